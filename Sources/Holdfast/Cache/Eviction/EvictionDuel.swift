/// Finds the rule under which the cache would have had the most hits lately, by shadow caches that see a sample of the
/// keys.
///
/// The sample holds all keys whose hash has a number of zeros in one place, so that a shadow sees every use of a key or
/// none; a cache of one n-th of the size has about the same hit ratio for one n-th of the keys (Waldspurger, Park,
/// Garthwaite and Ahmad, 2015). The sample is halved whenever the shadows hold too many.
struct EvictionDuel: Sendable {
  private struct Contestant {
    var shadow: ShadowCache
    /// The part of the last uses that were hits; the longer ago a use is, the less it counts.
    var score = 0.0
    /// For each of the others the part of uses that were a hit for one of both only: how much may be chance.
    var dissent: [Double]
    var isHit = false
  }

  private var contestants: [Contestant]
  private var leading = 0
  /// How many halvings of the sample: one key in 2^n is seen.
  private var halvings = 0

  /// How many entries a shadow may hold; half of it suffices to tell good from bad.
  private static let capacity = 256
  /// For how many uses a hit counts, in multiples of a shadow's entries.
  private static let memory = 10.0
  /// How much better another rule has to be. With the memory, it is as many hits as a fifth of the entries: a change
  /// costs about that much, since what the new rule would keep has to come in first.
  private static let margin = 0.02

  /// A duel for a cache of that limit.
  init(limit: Amount) {
    // What is best for most is the first.
    contestants = [.twiceUsed, .moreFrequent, .notRecent].map {
      Contestant(shadow: ShadowCache($0), dissent: [0, 0, 0])
    }
    // Without a limit of entries it shows later how many there are.
    if limit.count < .max { while limit.count >> halvings >= Self.capacity { halvings += 1 } }
  }

  /// The rule to follow.
  var leader: EvictionRule { contestants[leading].shadow.queues.rule }

  /// Which bits of a hash are zero in the sample.
  var mask: UInt64 { (1 << UInt64(halvings) - 1) << 32 }

  /// Asks the shadows for a key, if it is in the sample.
  mutating func use(hash: UInt64, cost: Int, limit: Amount) {
    guard hash & mask == 0 else { return }
    let part = Amount(
      count: limit.count == .max ? .max : max(1, limit.count >> halvings),
      cost: limit.cost == .max ? .max : limit.cost >> halvings)
    for index in contestants.indices {
      contestants[index].isHit = contestants[index].shadow.use(hash: hash, cost: cost, limit: part)
    }
    compare()
    if contestants[0].shadow.count > Self.capacity, halvings < 20 { halve() }
  }

  private mutating func compare() {
    let span = Self.memory * Double(max(Self.capacity / 2, contestants[0].shadow.count))
    for index in contestants.indices {
      let isHit = contestants[index].isHit
      contestants[index].score += ((isHit ? 1 : 0) - contestants[index].score) / span
      for other in contestants.indices where other != index {
        let isDissent = isHit != contestants[other].isHit
        contestants[index].dissent[other] += ((isDissent ? 1 : 0) - contestants[index].dissent[other]) / span
      }
    }
    let old = contestants[leading]
    for index in contestants.indices {
      let chance = (old.dissent[index] / span).squareRoot()
      if contestants[index].score > old.score + Self.margin + chance,
        contestants[index].score > contestants[leading].score
      {
        leading = index
      }
    }
  }

  private mutating func halve() {
    halvings += 1
    let mask = mask
    for index in contestants.indices { contestants[index].shadow.keep { $0 & mask == 0 } }
  }
}
