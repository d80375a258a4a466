import Foundation

/// A file system of the calling thread alone, in a mount name space of its own, so that nothing is left behind.
public enum Mount {
  /// Mounts a file system in memory; the whole test must run on one thread.
  ///
  /// - Returns: `false` if this process may not mount.
  public static func temporary(at path: String, size: String) -> Bool {
    typealias Unshare = @convention(c) (Int32) -> Int32
    let unshare = unsafe unsafeBitCast(dlsym(dlopen(nil, RTLD_NOW), "unshare")!, to: Unshare.self)
    let newMountNamespace: Int32 = 0x0002_0000
    guard unshare(newMountNamespace) == 0, unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 else {
      return false
    }
    return unsafe "size=\(size)".withCString { unsafe mount("tmpfs", path, "tmpfs", 0, $0) } == 0
  }

  /// Lets nobody write to it any more.
  public static func makeReadOnly(_ path: String) {
    precondition(unsafe mount("none", path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
  }

  public static func makeWritable(_ path: String) {
    precondition(unsafe mount("none", path, nil, UInt(MS_REMOUNT), nil) == 0)
  }

  public static func remove(_ path: String) { unsafe umount2(path, Int32(MNT_DETACH)) }
}
