/// SipHash-2-4 with a 128-bit result (Aumasson and Bernstein, 2012), under a fixed key.
///
/// It gives keys of any length a fixed, well-spread name. A collision is never trusted to be absent where it would
/// matter: records keep their full key.
enum SipHash {
  static func hash128(_ bytes: some Sequence<UInt8>, key: (UInt64, UInt64) = (0, 0)) -> [UInt8] {
    var state = State(key)
    var word: UInt64 = 0
    var count = 0
    for byte in bytes {
      word |= UInt64(byte) << (8 * (count % 8))
      count += 1
      if count % 8 == 0 {
        state.absorb(word)
        word = 0
      }
    }
    state.absorb(word | UInt64(count & 0xFF) << 56)
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

    mutating func finish() -> [UInt8] {
      var writer = ByteWriter()
      v2 ^= 0xee
      for _ in 0..<4 { round() }
      writer.append(v0 ^ v1 ^ v2 ^ v3)
      v1 ^= 0xdd
      for _ in 0..<4 { round() }
      writer.append(v0 ^ v1 ^ v2 ^ v3)
      return writer.bytes
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
