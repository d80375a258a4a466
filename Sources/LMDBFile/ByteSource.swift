#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Where the bytes of a file come from: an open descriptor, or memory.
///
/// The one place of the module that hands an address to the system. Nothing is mapped, so a file that becomes shorter
/// while it is read is an error and not a signal.
package final class ByteSource: Sendable {
  private enum Storage: Sendable {
    case descriptor(Int32)
    case memory([UInt8])
  }

  private let storage: Storage
  /// The path of the file, for messages.
  package let path: String

  /// Opens a file for reading, which changes nothing.
  package init(_ path: String) throws(ReadError) {
    var descriptor: Int32
    // A pipe without a writer must not block; it is refused by its size.
    repeat {
      descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else { throw ReadError(errno: errno) }
    storage = .descriptor(descriptor)
    self.path = path
  }

  /// Takes bytes as if they were a file.
  package init(_ bytes: [UInt8], path: String = "memory") {
    storage = .memory(bytes)
    self.path = path
  }

  deinit {
    if case .descriptor(let descriptor) = storage { _ = close(descriptor) }
  }

  /// What the system says of a file.
  package struct Status: Sendable {
    package let size: Int
    /// The bytes it takes on the device; a sparse file takes fewer than its size.
    package let allocated: Int
    package let isDirectory: Bool
    package let isRegular: Bool
    /// `nil` for bytes in memory.
    package let identity: Identity?
  }

  /// Which file it is: the device and the number on it.
  package struct Identity: Sendable, Hashable {
    package let major: UInt32
    package let minor: UInt32
    package let inode: UInt64

    package init(major: UInt32, minor: UInt32, inode: UInt64) {
      (self.major, self.minor, self.inode) = (major, minor, inode)
    }
  }

  /// What the system says of the file.
  package func status() throws(ReadError) -> Status {
    switch storage {
    case .memory(let bytes):
      return Status(size: bytes.count, allocated: bytes.count, isDirectory: false, isRegular: true, identity: nil)
    case .descriptor(let descriptor):
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw ReadError(errno: errno) }
      return Status(status)
    }
  }

  /// What the system says of a path, without opening it.
  package static func status(of path: String) throws(ReadError) -> Status {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw ReadError(errno: errno) }
    return Status(status)
  }

  /// Fills `buffer` from a place in the file.
  ///
  /// - Returns: How many bytes there were; fewer than asked for only at the end of the file.
  package func read(into buffer: inout [UInt8], count: Int, at offset: Int) throws(ReadError) -> Int {
    let count = min(count, buffer.count)
    switch storage {
    case .memory(let bytes):
      guard offset >= 0, offset < bytes.count else { return 0 }
      let available = min(count, bytes.count - offset)
      buffer.replaceSubrange(0..<available, with: bytes[offset..<offset + available])
      return available
    case .descriptor(let descriptor):
      var filled = 0
      while filled < count {
        let start = filled
        let got = unsafe buffer.withUnsafeMutableBytes { bytes in
          unsafe pread(descriptor, bytes.baseAddress?.advanced(by: start), count - start, off_t(offset + start))
        }
        if got < 0 && errno == EINTR { continue }
        if got < 0 { throw ReadError(errno: errno) }
        if got == 0 { break }
        filled += got
      }
      return filled
    }
  }

  /// Up to `count` bytes from a place in the file.
  package func bytes(at offset: Int, count: Int) throws(ReadError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let got = try read(into: &buffer, count: count, at: offset)
    buffer.removeLast(count - got)
    return buffer
  }
}

extension ByteSource.Status {
  fileprivate init(_ status: stat) {
    size = Int(status.st_size)
    allocated = Int(status.st_blocks) * 512
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    isRegular = status.st_mode & S_IFMT == S_IFREG
    let device = UInt64(truncatingIfNeeded: status.st_dev)
    #if canImport(Darwin)
      let (major, minor) = (device >> 24 & 0xFF, device & 0xFF_FFFF)
    #else
      // As makedev(3) puts them together.
      let major = device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
      let minor = device & 0xFF | device >> 12 & 0xFFFF_FF00
    #endif
    identity = ByteSource.Identity(
      major: UInt32(truncatingIfNeeded: major), minor: UInt32(truncatingIfNeeded: minor),
      inode: UInt64(status.st_ino))
  }
}

extension ReadError {
  /// What the system said.
  init(errno code: Int32) {
    switch code {
    case ENOENT, ENOTDIR: self.init(.notFound, "no such file or directory; check the path")
    case EACCES, EPERM:
      self.init(.denied, "permission denied; run this as the user that owns the file, or ask for the right to read it")
    default: self.init(.io, Descriptor.message(code))
    }
  }
}
