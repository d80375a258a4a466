/// How often keys were asked for lately, counted up to 15, in about two bytes a key.
///
/// A count-min sketch of 4-bit counters in four rows that share one table; every counter is halved each time ten times
/// as many uses were counted as there are keys. Cormode and Muthukrishnan, 2005; the aging is that of TinyLFU, Einziger,
/// Friedman and Manes, 2017.
struct FrequencySketch: Sendable {
  /// Sixteen counters a word.
  private var words = [UInt64](repeating: 0, count: 8)
  /// How many uses have been counted since the last halving; those before it count half.
  private var uses = 0
  /// For how many keys the sketch is made: a power of two.
  private(set) var capacity = 32

  /// One of the four counters of a hash: all are in one block of eight words, which is a cache line; the lower half of
  /// the hash says in which, a part of the other half where.
  private func counter(_ hash: UInt64, _ row: Int) -> (word: Int, shift: UInt64) {
    let mixed = hash &* 0xC3A5_C85C_97CB_3127
    let block = Int(truncatingIfNeeded: mixed >> 32) & (words.count / 8 - 1)
    let bits = mixed ^ (mixed >> 23) >> UInt64(8 * row) & 31
    return (block * 8 + row * 2 + Int(bits & 1), (bits >> 1 & 15) << 2)
  }

  /// The least that the counters of `hash` say: 0 to 15.
  func estimate(_ hash: UInt64) -> Int {
    var least: UInt64 = 15
    for row in 0..<4 {
      let (word, shift) = counter(hash, row)
      least = min(least, words[word] >> shift & 15)
    }
    return Int(least)
  }

  /// Counts uses of a key, among `keys` keys.
  mutating func add(_ hash: UInt64, uses added: Int = 1, keys: Int) {
    while keys > capacity { grow() }
    for _ in 0..<min(added, 15) {
      for row in 0..<4 {
        let (word, shift) = counter(hash, row)
        if words[word] >> shift & 15 < 15 { words[word] += 1 << shift }
      }
    }
    uses += added
    if uses >= 10 * max(16, keys) { halve() }
  }

  private mutating func halve() {
    for index in words.indices { words[index] = words[index] >> 1 & 0x7777_7777_7777_7777 }
    uses /= 2
  }

  /// Twice the counters; both halves start as the one before, so that every estimate stays what it was.
  private mutating func grow() {
    words += words
    capacity *= 2
  }
}
