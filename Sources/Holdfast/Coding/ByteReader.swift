import LMDB

/// Reads the binary form of a record from its start to its end, as ``ByteWriter`` has made it.
struct ByteReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// How many bytes have not been read.
  var left: Int { bytes.count - offset }

  @_lifetime(self: copy self)
  mutating func number<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type = T.self) throws(Malformed) -> T {
    let number = try bytes.load(type, at: offset)
    offset += MemoryLayout<T>.size
    return number
  }

  @_lifetime(self: copy self)
  mutating func bytes(_ count: some BinaryInteger) throws(Malformed) -> [UInt8] {
    let count = Int(clamping: count)
    let part = try bytes.slice(offset, count)
    offset += count
    return [UInt8](copying: part)
  }

  /// Text, which must be valid UTF-8.
  @_lifetime(self: copy self)
  mutating func text(_ count: some BinaryInteger) throws(Malformed) -> String {
    if count == 0 { return "" }
    let count = Int(clamping: count)
    let part = try bytes.slice(offset, count)
    offset += count
    return try part.text()
  }

  @_lifetime(self: copy self)
  mutating func skip(_ count: Int) throws(Malformed) {
    _ = try bytes.slice(offset, count)
    offset += count
  }
}
