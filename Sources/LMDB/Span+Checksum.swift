extension Span<UInt8> {
  /// A checksum of the bytes, continued from `seed`: it tells damage, not forgery.
  ///
  /// Four independent lanes, each of which multiplies 16 bytes at a time and folds the 128-bit product (the step of
  /// wyhash, Wang Yi 2019), so that it runs at the speed of the memory. Any two inputs that differ have different sums
  /// but for about one case in 2^64.
  package func checksum(_ seed: UInt64) -> UInt64 {
    let bytes = unsafe self.bytes
    var (lane0, lane1) = (seed ^ 0x9E37_79B9_7F4A_7C15, seed ^ 0xC2B2_AE3D_27D4_EB4F)
    var (lane2, lane3) = (seed ^ 0x1656_67B1_9E37_79F9, seed ^ 0x27D4_EB2F_1656_67C5)
    var offset = 0
    while offset + 64 <= count {
      lane0 = unsafe fold(bytes.word(offset) ^ lane0, bytes.word(offset + 8) ^ 0xA076_1D64_78BD_642F)
      lane1 = unsafe fold(bytes.word(offset + 16) ^ lane1, bytes.word(offset + 24) ^ 0xE703_7ED1_A0B4_28DB)
      lane2 = unsafe fold(bytes.word(offset + 32) ^ lane2, bytes.word(offset + 40) ^ 0x8EBC_6AF0_9C88_C6E3)
      lane3 = unsafe fold(bytes.word(offset + 48) ^ lane3, bytes.word(offset + 56) ^ 0x5899_65CC_7537_4CC3)
      offset += 64
    }
    while offset + 8 <= count {
      lane0 = unsafe fold(bytes.word(offset) ^ lane0, 0xE703_7ED1_A0B4_28DB)
      offset += 8
    }
    // What is left, its first byte highest; out of the last eight bytes if there are so many.
    var rest: UInt64 = 0
    if offset == 0 {
      for index in indices { rest = rest << 8 | UInt64(self[index]) }
    } else if offset < count {
      rest = unsafe bytes.word(count - 8).byteSwapped & (1 << UInt64(8 * (count - offset)) &- 1)
    }
    lane1 = fold(rest ^ lane1, UInt64(count) ^ 0xA076_1D64_78BD_642F)
    return fold(lane0 ^ lane2, lane1 ^ lane3 ^ 0x8EBC_6AF0_9C88_C6E3)
  }
}

/// Mixes two words: the halves of their product, which each bit of both reaches. The first is added, so that bytes which
/// make the second one zero do not swallow it; it depends on all that came before, so that none make it zero on purpose.
@inline(__always)
private func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
  let product = a.multipliedFullWidth(by: b)
  return (product.high ^ product.low) &+ a
}

extension RawSpan {
  @unsafe
  @inline(__always)
  fileprivate func word(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }
}

extension Array<UInt8> {
  /// Copies two pieces into one array.
  package init(joining head: borrowing Span<UInt8>, _ tail: borrowing Span<UInt8>) {
    if tail.isEmpty {
      self = unsafe head.withUnsafeBytes { unsafe Array($0) }
      return
    }
    // Not `init(unsafeUninitializedCapacity:)`, which looks up the array's type at run time, as costly as the memory.
    self = []
    reserveCapacity(head.count + tail.count)
    unsafe head.withUnsafeBytes { unsafe append(contentsOf: $0) }
    unsafe tail.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
