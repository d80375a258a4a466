import LMDB

/// SipHash-2-4 with a 128-bit result (Aumasson and Bernstein, 2012), under a fixed key.
///
/// It gives keys of any length a fixed, well-spread name. A collision is never trusted to be absent where it would
/// matter: records keep their full key.
enum SipHash {
  static func hash128(_ text: String, key: (UInt64, UInt64) = (0, 0)) -> ShortBytes {
    text.withBytes { bytes in hash128(bytes, key: key) }
  }

  static func hash128(_ bytes: [UInt8], key: (UInt64, UInt64) = (0, 0)) -> ShortBytes { hash128(bytes.span, key: key) }

  static func hash128(_ bytes: borrowing Span<UInt8>, key: (UInt64, UInt64) = (0, 0)) -> ShortBytes {
    var state = State(key)
    var offset = 0
    while let word = bytes.littleEndian(UInt64.self, at: offset) {
      state.absorb(word)
      offset += 8
    }
    var word: UInt64 = 0
    for index in offset..<bytes.count { word |= UInt64(bytes[index]) << (8 * (index - offset)) }
    state.absorb(word | UInt64(bytes.count & 0xFF) << 56)
    return state.finish()
  }

  private struct State {
    private var v0, v1, v2, v3: UInt64

    init(_ key: (UInt64, UInt64)) {
      v0 = key.0 ^ 0x736f_6d65_7073_6575
      v1 = key.1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
      v2 = key.0 ^ 0x6c79_6765_6e65_7261
      v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> ShortBytes {
      var result = ShortBytes()
      v2 ^= 0xee
      for _ in 0..<4 { round() }
      result.append(v0 ^ v1 ^ v2 ^ v3)
      v1 ^= 0xdd
      for _ in 0..<4 { round() }
      result.append(v0 ^ v1 ^ v2 ^ v3)
      return result
    }

    private mutating func round() {
      v0 &+= v1
      v1 = v1 << 13 | v1 >> 51
      v1 ^= v0
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v3
      v3 = v3 << 16 | v3 >> 48
      v3 ^= v2
      v0 &+= v3
      v3 = v3 << 21 | v3 >> 43
      v3 ^= v0
      v2 &+= v1
      v1 = v1 << 17 | v1 >> 47
      v1 ^= v2
      v2 = v2 << 32 | v2 >> 32
    }
  }
}
