extension Span<UInt8> {
  /// A number that tells whether bytes are those that were written.
  ///
  /// Eight bytes at a time: rotate, exclusive or, multiply by an odd number, as in multiplicative hashing (Knuth, The Art
  /// of Computer Programming, volume 3, 6.4). Each step is a bijection, so that damage within eight bytes is always seen;
  /// other damage goes unseen once in 2^64. About 5 instructions for 8 bytes. It is no protection from intent.
  package var checksum: UInt64 {
    unsafe withUnsafeBytes { bytes in
      var sum = UInt64(bytes.count)
      var offset = 0
      while offset + 8 <= bytes.count {
        sum = Self.mix(sum, UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        offset += 8
      }
      var tail: UInt64 = 0
      if offset + 4 <= bytes.count {
        tail = UInt64(UInt32(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        offset += 4
      }
      while offset < bytes.count {
        tail = tail << 8 | UInt64(unsafe bytes[offset])
        offset += 1
      }
      sum = Self.mix(sum, tail)
      return sum ^ sum >> 32
    }
  }

  @inline(__always)
  private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    ((sum << 29 | sum >> 35) ^ word) &* 0x9E37_79B9_7F4A_7C15
  }
}
