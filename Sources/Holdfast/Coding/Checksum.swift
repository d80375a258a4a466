import LMDB

/// Tells whether bytes are those that were written.
///
/// Eight bytes at a time: rotate, exclusive or, multiply by an odd number, as in multiplicative hashing (Knuth, The Art
/// of Computer Programming, volume 3, 6.4). Each step is a bijection, so that damage within eight bytes is always seen;
/// other damage goes unseen once in 2^64. About 6 instructions for 8 bytes. It is no protection from intent.
enum Checksum {
  /// How many bytes it takes.
  static let length = 8

  static func of(_ bytes: Span<UInt8>) -> UInt64 {
    var sum = UInt64(bytes.count)
    var offset = 0
    while let word = bytes.littleEndian(UInt64.self, at: offset) {
      sum = mix(sum, word)
      offset += 8
    }
    var tail: UInt64 = 0
    while let byte = bytes.littleEndian(UInt8.self, at: offset) {
      tail = tail << 8 | UInt64(byte)
      offset += 1
    }
    sum = mix(sum, tail)
    return sum ^ sum >> 32
  }

  @inline(__always)
  private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    ((sum << 29 | sum >> 35) ^ word) &* 0x9E37_79B9_7F4A_7C15
  }
}
