import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open file or directory, closed when its owner goes away.
///
/// Calls that a signal interrupts are made again. Each failure is a ``StoreError`` that names the path.
package struct File: ~Copyable, Sendable {
  /// Identifies a file by device and inode, whatever its path.
  package struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  /// What the system knows the file by, for as long as this is alive.
  package let descriptor: Int32
  let path: String

  /// How a file is opened.
  package enum Access: Sendable {
    /// An existing file, for reading.
    case read
    /// An existing directory.
    case directory
    /// An existing file, for writing in it.
    case update
    /// A new file, for writing; it is an error if one is there.
    case new
    /// A file for locking, made if it is missing.
    case lock
  }

  package init(_ path: String, _ access: Access) throws(StoreError) {
    let flags: Int32 =
      switch access {
      case .read: O_RDONLY
      case .directory: O_RDONLY | O_DIRECTORY
      case .update: O_RDWR
      case .new: O_WRONLY | O_CREAT | O_EXCL
      case .lock: O_RDWR | O_CREAT
      }
    var descriptor: Int32
    repeat { descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600) } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else { throw .posix(errno, "open \(path)") }
    self.descriptor = descriptor
    self.path = path
  }

  deinit { _ = close(descriptor) }

  /// The size in bytes.
  package borrowing func size() throws(StoreError) -> Int { Int(try status().st_size) }

  /// Device and inode.
  package borrowing func identity() throws(StoreError) -> Identity { Identity(try status()) }

  /// How many names the file has; zero once it has been removed.
  package borrowing func linkCount() throws(StoreError) -> Int { Int(try status().st_nlink) }

  private borrowing func status() throws(StoreError) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .posix(errno, "examine \(path)") }
    return status
  }

  /// Reads up to `count` bytes; fewer only at the end of the file.
  package borrowing func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let start = filled
      let fd = descriptor
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe pread(fd, buffer.baseAddress?.advanced(by: start), count - start, off_t(offset + start))
      }
      if got < 0 && errno == EINTR { continue }
      if got < 0 { throw .posix(errno, "read \(path)") }
      if got == 0 { break }
      filled += got
    }
    return Array(bytes[..<filled])
  }

  /// One byte, without an array for it; `nil` beyond the end.
  package borrowing func byte(at offset: Int) throws(StoreError) -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let got = unsafe pread(descriptor, &byte, 1, off_t(offset))
      if got < 0 && errno == EINTR { continue }
      if got < 0 { throw .posix(errno, "cannot read \(path)") }
      return got == 0 ? nil : byte
    }
  }

  /// Writes all bytes at the current position.
  package borrowing func write(_ bytes: borrowing Span<UInt8>) throws(StoreError) {
    var written = 0
    while written < bytes.count {
      let start = written
      let fd = descriptor
      let put = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(fd, buffer.baseAddress?.advanced(by: start), buffer.count - start)
      }
      if put < 0 && errno == EINTR { continue }
      if put < 0 { throw .posix(errno, "write \(path)") }
      written += put
    }
  }

  /// Writes all bytes at a place of their own.
  package borrowing func write(_ bytes: borrowing Span<UInt8>, at offset: Int) throws(StoreError) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw .posix(errno, "write \(path)") }
    try write(bytes)
  }

  /// Blocks until the content, or the directory's entries, are on the device.
  package borrowing func synchronize() throws(StoreError) {
    #if canImport(Darwin)
      // Plain fsync leaves the data in the drive's cache there.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(descriptor) == 0 else { throw .posix(errno, "flush \(path)") }
  }

  /// Has the file system set aside room for the first `count` bytes, whose size and content stay as they are.
  ///
  /// - Throws: `diskFull` if there is none. A file system that cannot promise it is no error.
  borrowing func reserve(_ count: Int) throws(StoreError) {
    #if !canImport(Darwin)
      let keepSize: Int32 = 1  // FALLOC_FL_KEEP_SIZE
      while fallocate(descriptor, keepSize, 0, off_t(count)) != 0 {
        switch errno {
        case EINTR: continue
        case ENOSPC, EDQUOT, EFBIG: throw .posix(errno, "reserve \(count) bytes for \(path)")
        default: return
        }
      }
    #endif
  }
}

extension File.Identity {
  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}

/// `write(2)`, under a name that does not collide with ``File/write(_:)``.
@unsafe
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}
