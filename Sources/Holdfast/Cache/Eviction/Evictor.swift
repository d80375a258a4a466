/// Knows the entries of a memory cache by hash and cost, and chooses which leave; a value without lock or clock.
@usableFromInline
struct Evictor: Sendable {
  /// What the cache may hold.
  private(set) var limit: Amount
  private var queues: EvictionQueues
  private var duel: EvictionDuel?

  init(_ policy: EvictionPolicy, limit: Amount) {
    self.limit = limit
    switch policy {
    case .adaptive:
      let duel = EvictionDuel(limit: limit)
      self.duel = duel
      queues = EvictionQueues(duel.leader)
      mask = duel.mask
    case .lru:
      queues = EvictionQueues(.leastRecentlyUsed)
      mask = 0
    case .fifo:
      queues = EvictionQueues(.firstInFirstOut)
      mask = .max
    }
  }

  /// What the entries are together.
  var total: Amount { queues.residents.total }
  /// The pinned entry that was pinned the longest ago.
  var oldestPinned: Int32? { queues.residents.pinned.tail >= 0 ? queues.residents.pinned.tail : nil }
  /// The rule that is followed now.
  var rule: EvictionRule { queues.rule }

  /// A look-up that finds an entry has to be noted if its hash has no bit of these.
  private(set) var mask: UInt64

  /// Changes the limit; what was learned under another one is forgotten.
  mutating func setLimit(_ limit: Amount) {
    guard limit != self.limit else { return }
    self.limit = limit
    guard duel != nil else { return }
    let duel = EvictionDuel(limit: limit)
    self.duel = duel
    mask = duel.mask
  }

  /// Notes that an entry was asked for.
  @usableFromInline
  mutating func use(_ slot: Int32, hash: UInt64) {
    guard queues.residents.holds(slot, hash: hash) else { return }
    if rule == .leastRecentlyUsed { return queues.renew(slot) }
    follow(hash, queues.residents[slot].cost)
  }

  /// Adds an entry for which there is room.
  @usableFromInline
  mutating func insert(hash: UInt64, cost: Int, isPinned: Bool) -> Int32 {
    if !isPinned { follow(hash, cost) }
    return queues.insert(hash: hash, cost: cost, isPinned: isPinned)
  }

  /// Takes out an entry that nobody wants any more.
  @usableFromInline
  mutating func remove(_ slot: Int32) { queues.remove(slot) }

  /// Takes out an entry that has to leave.
  ///
  /// - Returns: Its hash.
  @usableFromInline
  @discardableResult
  mutating func evict(_ slot: Int32) -> UInt64 {
    let hash = queues.residents[slot].hash
    queues.evict(slot)
    return hash
  }

  /// Takes out all entries; what was learned stays.
  mutating func removeAll() { queues.removeAll() }

  /// Whether an entry fits, in place of another one if `slot` is not negative.
  func hasRoom(forCost cost: Int, replacing slot: Int32) -> Bool {
    total.hasRoom(forCost: cost, within: limit, replacing: slot < 0 ? nil : queues.residents[slot].cost)
  }

  /// Whether a pinned entry fits into the half of the limit that pinned ones may take.
  func hasRoomForPinned(_ cost: Int, replacing slot: Int32) -> Bool {
    let old = slot < 0 ? nil : queues.residents[slot]
    return queues.residents.pinned.amount.hasRoom(
      forCost: cost, within: limit.share(0.5), replacing: old?.queue == .pinned ? old?.cost : nil)
  }

  /// Keeps an entry from being chosen, if there is one, until it is replaced or removed.
  @usableFromInline
  mutating func shield(_ slot: Int32) {
    if slot >= 0, queues.residents[slot].queue != .pinned { queues.move(slot, to: .pinned) }
  }

  /// Notes that an entry has another value, which is a use.
  @usableFromInline
  mutating func replace(_ slot: Int32, cost: Int, isPinned: Bool) {
    queues.setCost(cost, of: slot)
    if (queues.residents[slot].queue == .pinned) != isPinned { queues.move(slot, to: isPinned ? .pinned : .small) }
    let hash = queues.residents[slot].hash
    if hash & mask == 0 { use(slot, hash: hash) }
  }

  /// The hash of an entry.
  func hash(of slot: Int32) -> UInt64 { queues.residents[slot].hash }

  /// Chooses the entry that has to leave next.
  ///
  /// - Parameters:
  ///   - limit: What the cache may hold, if it is less than its limit.
  ///   - takeUses: How often an entry was asked for since it was asked about last.
  /// - Returns: The entry; `nil` if there are only pinned ones.
  @usableFromInline
  mutating func victim(within limit: Amount? = nil, takeUses: (Int32, UInt64) -> Int) -> Int32? {
    queues.victim(within: limit ?? self.limit, takeUses: takeUses)
  }

  private mutating func follow(_ hash: UInt64, _ cost: Int) {
    guard hash & mask == 0, duel != nil else { return }
    duel?.use(hash: hash, cost: cost, limit: limit)
    queues.rule = duel?.leader ?? rule
    mask = duel?.mask ?? mask
  }
}
