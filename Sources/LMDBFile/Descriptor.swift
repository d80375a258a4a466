#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open descriptor that is read or written from front to end: standard input and output.
package final class Descriptor: Sendable {
  private let number: Int32

  package static let standardInput = Descriptor(number: 0)
  package static let standardOutput = Descriptor(number: 1)
  package static let standardError = Descriptor(number: 2)

  private init(number: Int32) { self.number = number }

  /// Makes a file, or empties the one that is there.
  ///
  /// - Throws: `denied`, `notFound` or `io`.
  package init(creating path: String) throws(ReadError) {
    var descriptor: Int32
    repeat {
      descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else { throw ReadError(errno: errno) }
    number = descriptor
  }

  deinit {
    if number > 2 { _ = close(number) }
  }

  /// Blocks until what was written is on the device. A pipe has none.
  ///
  /// - Returns: Zero, or what the system said.
  package func synchronize() -> Int32 { fsync(number) == 0 || errno == EINVAL ? 0 : errno }

  /// Renames a file, replacing what has the new name.
  package static func rename(_ path: String, to newPath: String) throws(ReadError) {
    guard systemRename(path, newPath) == 0 else { throw ReadError(errno: errno) }
  }

  /// What ``write(_:count:)`` returns for a pipe that nobody reads any more.
  package static let closedPipe = EPIPE

  /// What the system says of a number of its own.
  package static func message(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

  /// Whether it is a terminal.
  package var isTerminal: Bool { isatty(number) == 1 }

  /// How many columns the terminal has; `nil` if it is none.
  package var columns: Int? {
    var size = winsize()
    guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes the first `count` bytes, all of them.
  ///
  /// - Returns: Zero, or what the system said.
  package func write(_ bytes: [UInt8], count: Int) -> Int32 {
    var written = 0
    while written < count {
      let start = written
      let put = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(number, buffer.baseAddress?.advanced(by: start), count - start)
      }
      if put < 0 && errno == EINTR { continue }
      if put < 0 { return errno }
      written += put
    }
    return 0
  }

  /// Reads what there is, at most the length of the buffer; zero at the end, below zero for a failure.
  package func read(into buffer: inout [UInt8]) -> Int {
    while true {
      let got = unsafe buffer.withUnsafeMutableBytes { unsafe systemRead(number, $0.baseAddress, $0.count) }
      if got >= 0 || errno != EINTR { return got }
    }
  }
}

/// `write(2)` and `read(2)`, under names that do not collide with the methods.
@unsafe
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, bytes, count)
}

@unsafe
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, bytes, count)
}

private func systemRename(_ path: String, _ newPath: String) -> Int32 { unsafe rename(path, newPath) }
