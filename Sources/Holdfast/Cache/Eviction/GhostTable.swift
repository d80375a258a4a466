/// The keys that were evicted last, by their hashes, in eight bytes each.
///
/// Buckets of eight: the least recent of a full bucket is forgotten. Two keys are taken for one in one of 500 million
/// look-ups of a full bucket.
struct GhostTable: Sendable {
  /// 32 bits of the hash above, the number of the eviction below; 0 is free.
  private var slots = [UInt64](repeating: 0, count: 8)
  private var evictions: UInt32 = 0

  /// Remembers a key beside at most `limit` others that were evicted after it.
  mutating func insert(_ hash: UInt64, limit: Int) {
    while slots.count < limit { grow() }
    evictions &+= 1
    let start = bucket(hash)
    var oldest = start
    for index in start..<start + 8 {
      if slots[index] == 0 || slots[index] >> 32 == hash >> 32 {
        oldest = index
        break
      }
      if age(slots[index]) > age(slots[oldest]) { oldest = index }
    }
    slots[oldest] = (hash & ~0xFFFF_FFFF) | UInt64(evictions)
  }

  /// Forgets a key, and says whether it was among the last `limit` that were evicted.
  mutating func remove(_ hash: UInt64, limit: Int) -> Bool {
    let start = bucket(hash)
    for index in start..<start + 8 where slots[index] != 0 && slots[index] >> 32 == hash >> 32 {
      let isYoung = age(slots[index]) < limit
      slots[index] = 0
      return isYoung
    }
    return false
  }

  private func bucket(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & 0xFFFF_FFFF) & (slots.count / 8 - 1) * 8 }

  private func age(_ slot: UInt64) -> Int { Int(evictions &- UInt32(truncatingIfNeeded: slot)) }

  /// Twice the buckets. Which of two a ghost belongs to cannot be told, so it stands in both; one of them is never asked
  /// for, and is the first to go.
  private mutating func grow() { slots += slots }
}
