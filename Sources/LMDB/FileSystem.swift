import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The few file operations that a store needs, each a typed error that names the path.
package enum FileSystem {
  /// A path beside another one that nobody has: what is made there is one's own, and in nobody's place.
  ///
  /// - Parameters:
  ///   - path: The path that the work gets when it is done.
  ///   - ending: What the name ends in, for whoever finds it after a crash.
  /// - Returns: The path, in the same directory.
  package static func workPath(beside path: String, _ ending: String) -> String {
    var path = path
    // Of a path that ends in a slash, it would be in the directory.
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    return "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).\(ending)"
  }

  /// Whether something exists at the path; a dangling link does.
  package static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// Whether the path itself, not what it points to, is a symbolic link.
  package static func isSymbolicLink(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Whether the path itself is a regular file.
  package static func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The file at a path, or `nil` if there is none.
  package static func identity(_ path: String) -> File.Identity? {
    #if os(Linux)
      var (device, inode): (UInt64, UInt64) = (0, 0)
      return unsafe clmdb_identity(path, &device, &inode) == 0 ? File.Identity(device: device, inode: inode) : nil
    #else
      var status = stat()
      return unsafe stat(path, &status) == 0 ? File.Identity(status) : nil
    #endif
  }

  /// Refuses a path that would name something else than its writer has meant.
  static func checkPath(_ path: String) throws(StoreError) {
    if path.isEmpty { throw StoreError(.invalidOption, "The path is empty; name a directory.") }
    if path.utf8.contains(0) {
      throw StoreError(
        .invalidOption,
        "The path \(path.debugDescription) has a NUL in it, where the system would cut it off; remove it."
      )
    }
    if path == "~" || path.hasPrefix("~/") {
      throw StoreError(
        .invalidOption,
        "The path \(path) begins with a ~, which only a shell replaces; write the path of the home directory, or ./~ for "
          + "a directory of that name.")
    }
  }

  /// Makes a directory that only its owner may use; an existing one is left alone.
  package static func makeDirectory(_ path: String) throws(StoreError) {
    try checkPath(path)
    if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    if errno == ENOENT {
      throw StoreError(
        .notFound, "Cannot make the directory \(path): its parent does not exist; make that first.", underlying: ENOENT)
    }
    throw .posix(errno, "make the directory \(path)")
  }

  /// Renames a file, replacing what has the new name.
  package static func rename(_ path: String, to newPath: String) throws(StoreError) {
    #if canImport(Darwin)
      let code = unsafe Darwin.rename(path, newPath)
    #elseif canImport(Glibc)
      let code = unsafe Glibc.rename(path, newPath)
    #elseif canImport(Musl)
      let code = unsafe Musl.rename(path, newPath)
    #endif
    if code != 0 { throw .posix(errno, "rename \(path) to \(newPath)") }
  }

  /// Removes a file; one that is already gone is no error.
  package static func removeFile(_ path: String) throws(StoreError) {
    if unsafe unlink(path) != 0 && errno != ENOENT { throw .posix(errno, "remove \(path)") }
  }

  /// Removes an empty directory.
  package static func removeDirectory(_ path: String) throws(StoreError) {
    if unsafe rmdir(path) != 0 && errno != ENOENT { throw .posix(errno, "remove the directory \(path)") }
  }

  /// The absolute path without symbolic links.
  package static func canonicalPath(_ path: String) throws(StoreError) -> String {
    guard let resolved = unsafe realpath(path, nil) else { throw .posix(errno, "resolve \(path)") }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Whether the file system of a path has less than a megabyte left for this process.
  package static func isFull(_ path: String) -> Bool {
    availableBytes(path).map { $0 < 1 << 20 } ?? false
  }

  /// How many bytes this process may still write to the file system of a path; `nil` if the system does not tell.
  package static func availableBytes(_ path: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }

  /// The directory that holds what a path names.
  package static func parent(of path: String) -> String {
    let parts = path.split(separator: "/")
    let parent = parts.dropLast().joined(separator: "/")
    return path.hasPrefix("/") ? "/\(parent)" : parent.isEmpty ? "." : parent
  }

  /// The names in a directory, without `.` and `..`, in no order.
  package static func names(in path: String) throws(StoreError) -> [String] {
    guard let directory = unsafe opendir(path) else { throw .posix(errno, "list \(path)") }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}
