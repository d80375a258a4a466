import LMDB

/// The bytes of a record do not have the form they claim; whoever knows the key turns it into a `StoreError`.
struct Malformed: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  static let endsEarly = Malformed("it ends early")
}

extension Span<UInt8> {
  /// A little-endian number at any offset.
  @inline(__always)
  func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) throws(Malformed) -> T {
    guard let value = littleEndian(type, at: offset) else { throw Malformed.endsEarly }
    return value
  }

  /// A big-endian number at any offset, as in keys.
  func loadBigEndian<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int) throws(Malformed) -> T {
    try load(type, at: offset).byteSwapped
  }

  /// A part of the bytes.
  @_lifetime(copy self)
  func slice(_ offset: Int, _ length: Int) throws(Malformed) -> Span<UInt8> {
    guard offset >= 0, length >= 0, offset <= count - length else { throw Malformed.endsEarly }
    return extracting(offset..<offset + length)
  }

  /// Text, which must be valid UTF-8; as likely as not one that is at hand, and need not be made.
  func text(probably known: String) throws(Malformed) -> String {
    known.withBytes { $0.elementsEqual(self) } ? known : try text()
  }

  /// Text, which must be valid UTF-8.
  func text() throws(Malformed) -> String {
    guard let text = String(validating: self) else {
      throw Malformed("a text in it is not UTF-8")
    }
    return text
  }
}
