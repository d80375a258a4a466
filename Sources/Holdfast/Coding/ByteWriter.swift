/// Builds the binary form of a record, little-endian and unaligned.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func append<T: FixedWidthInteger>(_ value: T) {
    var rest = value
    for _ in 0..<T.bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      if T.bitWidth > 8 { rest >>= 8 }
    }
  }

  mutating func append(bytes more: [UInt8]) { bytes += more }

  mutating func append(text: String) { bytes += text.utf8 }

  /// Replaces the number at an offset, once it is known.
  mutating func put<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    for index in 0..<T.bitWidth / 8 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
    }
  }
}

extension FixedWidthInteger {
  /// The bytes in the order in which a B-tree sorts unsigned numbers: most significant first.
  var bigEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (Self.bitWidth - 8 - 8 * $0)) }
  }
}
