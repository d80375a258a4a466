/// Finds the rule under which the cache would have had the most hits lately, by shadow caches that see a sample of the
/// keys.
///
/// The sample holds all keys whose hash has a number of zeros in one place, so that a shadow sees every use of a key or
/// none; a cache of one n-th of the size has about the same hit ratio for one n-th of the keys (Waldspurger, Park,
/// Garthwaite and Ahmad, 2015). The sample is halved whenever the shadows hold too many.
struct EvictionDuel: Sendable {
  private struct Contestant {
    var shadow: ShadowCache
    /// How many more of the last uses were hits than with the leader, as a part of all; the longer ago, the less it counts.
    var lead = 0.0
    /// The part of uses that were a hit for one of both only: how much of the lead may be chance.
    var dissent = 0.0
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
    contestants = [.twiceUsed, .moreFrequent, .notRecent].map { Contestant(shadow: ShadowCache($0)) }
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
    var best = leading
    for index in contestants.indices where index != leading {
      let isHit = contestants[index].isHit
      let isDissent = isHit != contestants[leading].isHit
      contestants[index].lead += ((isDissent ? isHit ? 1 : -1 : 0) - contestants[index].lead) / span
      contestants[index].dissent += ((isDissent ? 1 : 0) - contestants[index].dissent) / span
      let chance = (contestants[index].dissent / span).squareRoot()
      let isBetter = contestants[index].lead > Self.margin + chance
      if isBetter, best == leading || contestants[index].lead > contestants[best].lead { best = index }
    }
    guard best != leading else { return }
    leading = best
    for index in contestants.indices {
      contestants[index].lead = 0
      contestants[index].dissent = 0
    }
  }

  private mutating func halve() {
    halvings += 1
    let mask = mask
    for index in contestants.indices { contestants[index].shadow.keep { $0 & mask == 0 } }
  }
}
