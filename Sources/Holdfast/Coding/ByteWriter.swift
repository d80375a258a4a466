import LMDB

/// Builds the binary form of a record, little-endian and unaligned.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  init() {}

  /// Begins with `count` zeros, which ``put(_:at:)`` replaces: numbers of a fixed place cost less that way. There is room
  /// for `more` bytes after them.
  init(zeros count: Int, more: Int = 0) {
    bytes.reserveCapacity(count + more)
    bytes.append(contentsOf: repeatElement(0, count: count))
  }

  var count: Int { bytes.count }

  mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) { bytes.append(littleEndian: value) }

  mutating func append(bytes more: [UInt8]) { bytes += more }

  mutating func append(text: String) { bytes += text.utf8 }

  /// Replaces the number at an offset, once it is known.
  mutating func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
    bytes.store(littleEndian: value, at: offset)
  }
}

extension FixedWidthInteger where Self: BitwiseCopyable {
  /// The bytes in the order in which a B-tree sorts unsigned numbers: most significant first.
  var bigEndianBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: byteSwapped)
    return bytes
  }
}
