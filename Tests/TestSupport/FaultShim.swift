import Foundation

/// A library that, loaded before all others, fails writes and flushes on demand, and counts them and the calls of LMDB.
///
/// It is compiled when the first test asks for it. It does nothing in a process that does not call it.
public enum FaultShim {
  private static let directory =
    FileManager.default.temporaryDirectory.appending(path: "lmdb-faults-\(getpid())").path()

  /// Whether a C compiler is there and the library is loaded into the exit tests that start from now on.
  public static let isLoaded: Bool = {
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      try source.write(toFile: directory + "/faults.c", atomically: true, encoding: .utf8)
      let compiler = Process()
      compiler.executableURL = URL(filePath: "/usr/bin/env")
      compiler.arguments = [
        // Undefined behaviour in it traps.
        "cc", "-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-shared", "-fPIC", "-o",
        "\(directory)/faults.so", "\(directory)/faults.c", "-ldl",
      ]
      try compiler.run()
      compiler.waitUntilExit()
      guard compiler.terminationStatus == 0 else { return false }
      atexit { try? FileManager.default.removeItem(atPath: FaultShim.directory) }
      return unsafe setenv("LD_PRELOAD", "\(directory)/faults.so", 1) == 0
    } catch {
      return false
    }
  }()

  /// The calls that can fail.
  public enum Call: Int32, CaseIterable, Sendable { case dataWrite = 1, metaWrite = 2, flush = 3 }

  /// Makes the next call of a kind fail, and those after it if `forever`; only in an exit test.
  public static func fail(_ call: Call, with code: Int32, forever: Bool = false) {
    typealias Function = @convention(c) (Int32, Int32, Int32) -> Void
    let function = unsafe unsafeBitCast(symbol("fault_set"), to: Function.self)
    function(call.rawValue, code, forever ? 1 : 0)
  }

  /// Kills the process in the next call of a kind, which does not happen.
  public static func kill(at call: Call) { fail(call, with: -1) }

  /// How many flushes there have been, by `fdatasync` and by writes to a descriptor that flushes.
  public static var flushes: Int {
    typealias Function = @convention(c) () -> Int32
    return Int(unsafe unsafeBitCast(symbol("fault_flushes"), to: Function.self)())
  }

  /// How often LMDB has been asked to find, step to, store or remove a row; each walks the height of a tree at most.
  public static var steps: Int {
    typealias Function = @convention(c) () -> Int32
    return Int(unsafe unsafeBitCast(symbol("fault_steps"), to: Function.self)())
  }

  private static func symbol(_ name: String) -> UnsafeMutableRawPointer {
    unsafe dlsym(dlopen(nil, RTLD_NOW), name)!
  }

  // LMDB writes a header page as less than a page, and its data as whole ones.
  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <signal.h>
    #include <sys/uio.h>
    #include <unistd.h>
    static int kind, code, always, flushes;
    void fault_set(int k, int c, int forever) { kind = k; code = c; always = forever; }
    int fault_flushes(void) { return flushes; }
    static int steps;
    int fault_steps(void) { return steps; }
    #define STEP(name) \\
      static int (*next)(void *, unsigned, void *, void *, unsigned); \\
      if (!next) next = dlsym(RTLD_NEXT, name); \\
      __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED)
    int mdb_get(void *t, unsigned d, void *key, void *value) { STEP("mdb_get"); return next(t, d, key, value, 0); }
    int mdb_del(void *t, unsigned d, void *key, void *value) { STEP("mdb_del"); return next(t, d, key, value, 0); }
    int mdb_put(void *t, unsigned d, void *key, void *value, unsigned f) {
      STEP("mdb_put");
      return next(t, d, key, value, f);
    }
    int mdb_cursor_get(void *c, void *key, void *value, unsigned op) {
      static int (*next)(void *, void *, void *, unsigned);
      if (!next) next = dlsym(RTLD_NEXT, "mdb_cursor_get");
      __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED);
      return next(c, key, value, op);
    }
    static int fails(int k) {
      if (k != kind) return 0;
      if (!always) kind = 0;
      if (code == -1) kill(getpid(), SIGKILL);
      errno = code;
      return 1;
    }
    ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
      static ssize_t (*next)(int, const void *, size_t, off_t);
      if (!next) next = dlsym(RTLD_NEXT, "pwrite");
      if (fails(size < 512 ? 2 : 1)) return -1;
      if (fcntl(fd, F_GETFL) & O_DSYNC) flushes++;
      return next(fd, data, size, offset);
    }
    ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) { return pwrite(fd, data, size, offset); }
    ssize_t writev(int fd, const struct iovec *parts, int count) {
      static ssize_t (*next)(int, const struct iovec *, int);
      if (!next) next = dlsym(RTLD_NEXT, "writev");
      if (count > 0 && parts[0].iov_len >= 512 && fails(1)) return -1;
      return next(fd, parts, count);
    }
    int fdatasync(int fd) {
      static int (*next)(int);
      if (!next) next = dlsym(RTLD_NEXT, "fdatasync");
      if (fails(3)) return -1;
      flushes++;
      return next(fd);
    }
    """
}
