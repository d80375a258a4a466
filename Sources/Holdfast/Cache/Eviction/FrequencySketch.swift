/// How often keys were asked for lately, counted up to 15, in about two bytes a key.
///
/// A count-min sketch of 4-bit counters in four rows that share one table; every counter is halved each time ten times
/// as many uses were counted as there are keys. Cormode and Muthukrishnan, 2005; the aging is that of TinyLFU, Einziger,
/// Friedman and Manes, 2017.
struct FrequencySketch: Sendable {
  /// Sixteen counters a word.
  private var words = [UInt64](repeating: 0, count: 4)
  /// How many uses have been counted since the last halving; those before it count half.
  private var uses = 0
  /// For how many keys the sketch is made: a power of two.
  private(set) var capacity = 16

  /// The four counters of a hash: multiplied by four odd constants, so that two hashes seldom share more than one.
  private func counter(_ hash: UInt64, _ row: Int) -> (word: Int, shift: UInt64) {
    let odd: UInt64 =
      switch row {
      case 0: 0xC3A5_C85C_97CB_3127
      case 1: 0xB492_B66F_BE98_F273
      case 2: 0x9AE1_6A3B_2F90_404F
      default: 0xCBF2_9CE4_8422_2325
      }
    var mixed = (hash &+ odd) &* odd
    mixed ^= mixed >> 32
    return (Int(truncatingIfNeeded: mixed >> 4) & (words.count - 1), (mixed & 15) << 2)
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
