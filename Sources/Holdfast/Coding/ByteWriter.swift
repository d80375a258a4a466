import LMDB

/// Builds the binary form of a record, little-endian and unaligned.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  /// Begins with `count` zeros, which ``put(_:at:)`` replaces: numbers of a fixed place cost less that way. There is room
  /// for `more` bytes after them.
  init(zeros count: Int, more: Int = 0) {
    bytes.reserveCapacity(count + more)
    append(zeros: count)
  }

  var count: Int { bytes.count }

  /// - Parameter capacity: How many bytes there will be, if that is known.
  init(capacity: Int = 0) {
    if capacity > 0 { bytes.reserveCapacity(capacity) }
  }

  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) { bytes.append(littleEndian: value) }

  mutating func append(_ more: ShortBytes) { bytes.append(more) }

  /// Appends `count` zeros, which ``put(_:at:)`` replaces.
  mutating func append(zeros count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

  mutating func append(bytes more: [UInt8]) { bytes += more }

  mutating func append(text: String) { bytes.append(utf8: text) }

  /// Replaces the number at an offset, once it is known.
  mutating func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
    bytes.store(littleEndian: value, at: offset)
  }
}

extension UInt64 {
  /// The bytes in the order in which a B-tree sorts unsigned numbers: most significant first.
  var bigEndianBytes: [UInt8] { ShortBytes(bigEndian: self).array }
}
