/// Positions of entries under their hashes: an open-addressing table of eight bytes a bucket.
///
/// A bucket has 32 bits of the hash, so that few entries are compared in vain, and 32 bits of position. Whether an
/// entry is the one looked for is the caller's to say. At most three quarters of the buckets are used.
@usableFromInline
struct HashIndex: Sendable {
  /// The hash in the upper half, the position plus one in the lower half; 0 is an empty bucket.
  @usableFromInline var buckets = [UInt64](repeating: 0, count: 8)
  @usableFromInline var count = 0

  @inlinable
  init() {}

  /// The position under `hash` for which `isMatch` says yes.
  @inlinable
  @inline(__always)
  func position(of hash: UInt64, where isMatch: (Int) -> Bool) -> Int? {
    let mask = buckets.count &- 1
    let tag = UInt32(truncatingIfNeeded: hash)
    var bucket = Int(truncatingIfNeeded: tag) & mask
    while true {
      let word = buckets[bucket]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word &>> 32) == tag {
        let position = Int(truncatingIfNeeded: word & 0xFFFF_FFFF) &- 1
        if isMatch(position) { return position }
      }
      bucket = (bucket &+ 1) & mask
    }
  }

  /// Adds a position, which must not be there yet.
  @usableFromInline
  mutating func insert(_ position: Int, hash: UInt64) {
    if (count + 1) * 4 > buckets.count * 3 { grow() }
    place((hash & 0xFFFF_FFFF) << 32 | UInt64(position + 1))
    count += 1
  }

  /// Removes a position that is there.
  @usableFromInline
  mutating func remove(_ position: Int, hash: UInt64) {
    let mask = buckets.count - 1
    let word = (hash & 0xFFFF_FFFF) << 32 | UInt64(position + 1)
    var hole = Int(truncatingIfNeeded: hash & 0xFFFF_FFFF) & mask
    while buckets[hole] != word { hole = (hole + 1) & mask }
    // What follows moves up as long as that does not put it before its own bucket.
    var next = (hole + 1) & mask
    while buckets[next] != 0 {
      let home = Int(truncatingIfNeeded: buckets[next] >> 32) & mask
      if (next - home) & mask >= (next - hole) & mask {
        buckets[hole] = buckets[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    buckets[hole] = 0
    count -= 1
  }

  private mutating func place(_ word: UInt64) {
    let mask = buckets.count - 1
    var bucket = Int(truncatingIfNeeded: word >> 32) & mask
    while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }
    buckets[bucket] = word
  }

  private mutating func grow() {
    let old = buckets
    buckets = [UInt64](repeating: 0, count: old.count * 2)
    for word in old where word != 0 { place(word) }
  }
}
