/// The entries of a cache, and what is known of those that are gone: chooses the next to leave, by one of the rules.
///
/// The rules share the two queues, so that the rule can change while entries stay. Uses of an entry may be counted
/// elsewhere, where a look-up finds it; they are asked for, and taken, when its turn comes.
@usableFromInline
struct EvictionQueues: Sendable {
  var rule: EvictionRule
  private(set) var residents = Residents()
  private var sketch = FrequencySketch()
  private var ghosts = GhostTable()

  /// How many entries one choice may let pass, so that it takes microseconds also when all of them are in use.
  private static let patience = 64

  init(_ rule: EvictionRule) { self.rule = rule }

  private var usesGhosts: Bool { rule != .leastRecentlyUsed && rule != .firstInFirstOut }

  /// Adds an entry for which there is room.
  mutating func insert(hash: UInt64, cost: Int, isPinned: Bool) -> Int32 {
    var queue = Residents.Queue.small
    if usesGhosts {
      let count = residents.total.count
      sketch.add(hash, keys: count)
      if ghosts.remove(hash, limit: count), rule == .twiceUsed { queue = .main }
    }
    return residents.insert(hash: hash, cost: cost, into: isPinned ? .pinned : queue)
  }

  /// Takes out an entry that nobody wants any more.
  mutating func remove(_ slot: Int32) { residents.remove(slot) }

  /// Takes out an entry that has to leave, and may be asked for again.
  mutating func evict(_ slot: Int32) {
    let node = residents[slot]
    if usesGhosts, node.queue == .small || rule == .moreFrequent || rule == .notRecent {
      ghosts.insert(node.hash, limit: residents.total.count)
    }
    residents.remove(slot)
  }

  /// Counts a use of an entry here.
  mutating func use(_ slot: Int32) { residents.use(slot) }

  /// Changes what an entry counts.
  mutating func setCost(_ cost: Int, of slot: Int32) { residents.setCost(cost, of: slot) }

  mutating func move(_ slot: Int32, to queue: Residents.Queue) { residents.move(slot, to: queue) }

  /// Takes out all entries, and forgets none of what is known of their keys.
  mutating func removeAll() { residents = Residents() }

  /// Moves an entry to the young end of its queue, as if it was new; a pinned one keeps its place.
  mutating func renew(_ slot: Int32) {
    let queue = residents[slot].queue
    if queue != .pinned { residents.move(slot, to: queue) }
  }

  /// Chooses the entry that has to leave next.
  ///
  /// - Parameters:
  ///   - limit: What the cache may hold.
  ///   - takeUses: How often an entry was asked for since it was asked about last.
  /// - Returns: The entry; `nil` if there are only pinned ones.
  mutating func victim(within limit: Amount, takeUses: (Int32, UInt64) -> Int) -> Int32? {
    let share = limit.share(rule.smallPart)
    for _ in 0..<Self.patience {
      let small = residents.small
      let isFull = small.amount.count >= share.count || small.amount.cost >= share.cost
      let slot: Int32?
      if small.tail >= 0, rule == .notRecent ? residents.main.tail < 0 : isFull || residents.main.tail < 0 {
        slot = fromSmall(small.tail, share, limit, takeUses)
      } else {
        guard residents.main.tail >= 0 else { return nil }
        slot = fromMain(residents.main.tail, takeUses)
      }
      if let slot { return slot }
    }
    return residents.small.tail >= 0 ? residents.small.tail : residents.main.tail
  }

  /// The victim, if it is the oldest of the new ones or one that this one displaces.
  private mutating func fromSmall(
    _ slot: Int32, _ share: Amount, _ limit: Amount, _ takeUses: (Int32, UInt64) -> Int
  ) -> Int32? {
    let node = residents[slot]
    switch rule {
    case .leastRecentlyUsed, .firstInFirstOut:
      return slot
    case .notRecent:
      if uses(of: slot, takeUses) == 0 { return slot }
      residents.move(slot, to: .small)
      return nil
    case .twiceUsed:
      if uses(of: slot, takeUses) < 2 { return slot }
      residents.move(slot, to: .main)
      return nil
    case .moreFrequent:
      note(uses(of: slot, takeUses), node.hash)
      if residents.main.amount.hasRoom(forCost: node.cost, within: limit.without(share)) {
        residents.move(slot, to: .main)
        return nil
      }
      guard residents.main.tail >= 0 else { return slot }
      var rival = residents.main.tail
      for _ in 0..<Self.patience {
        guard fromMain(rival, takeUses) == nil else { break }
        rival = residents.main.tail
      }
      guard sketch.estimate(node.hash) > sketch.estimate(residents[rival].hash) else { return slot }
      residents.move(slot, to: .main)
      return rival
    }
  }

  /// The oldest of the proven ones, unless it was used: then it is young again, and there is no victim yet.
  private mutating func fromMain(_ slot: Int32, _ takeUses: (Int32, UInt64) -> Int) -> Int32? {
    let node = residents[slot]
    let uses = uses(of: slot, takeUses)
    if rule == .moreFrequent {
      guard uses > 0 else { return slot }
      note(uses, node.hash)
      residents.move(slot, to: .main)
      return nil
    }
    let credit = min(uses + Int(node.credit), 3)
    guard credit > 0 else { return slot }
    residents.move(slot, to: .main, credit: credit - 1)
    return nil
  }

  private mutating func uses(of slot: Int32, _ takeUses: (Int32, UInt64) -> Int) -> Int {
    residents.takeUses(slot) + takeUses(slot, residents[slot].hash)
  }

  private mutating func note(_ uses: Int, _ hash: UInt64) {
    if uses > 0 { sketch.add(hash, uses: uses, keys: residents.total.count) }
  }
}
