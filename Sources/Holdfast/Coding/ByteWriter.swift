import LMDB

/// Builds the binary form of a record, little-endian and unaligned.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  /// - Parameter capacity: How many bytes there will be, if that is known.
  init(capacity: Int = 0) {
    if capacity > 0 { bytes.reserveCapacity(capacity) }
  }

  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) { bytes.append(littleEndian: value) }

  mutating func append(_ more: ShortBytes) { bytes.append(more) }

  mutating func append(bytes more: [UInt8]) { bytes += more }

  mutating func append(text: String) { bytes.append(utf8: text) }

  /// Replaces the number at an offset, once it is known.
  mutating func put<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    for index in 0..<T.bitWidth / 8 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
    }
  }
}

extension UInt64 {
  /// The bytes in the order in which a B-tree sorts unsigned numbers: most significant first.
  var bigEndianBytes: [UInt8] { ShortBytes(bigEndian: self).array }
}
