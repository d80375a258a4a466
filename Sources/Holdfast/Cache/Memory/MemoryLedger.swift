/// What a memory cache knows of its entries as a whole. Whoever changes an entry holds it; a look-up does not.
@usableFromInline
struct MemoryLedger: Sendable {
  @usableFromInline var evictor: Evictor
  /// What the caller asked for; the evictor knows the same with "none" as a number.
  @usableFromInline var countLimit: Int?
  @usableFromInline var costLimit: Int?
  @usableFromInline var entryCostLimit: Int?
  @usableFromInline var ageLimit: Duration?
  /// When the next purge is due, in ms since 1970; .max if none is.
  @usableFromInline var purgeDue = Int64.max
  /// How long expired entries may take room, in ms.
  var purgeInterval: Int64 = 5000
  var purge: Task<Void, Never>?
  @usableFromInline var insertions = 0
  @usableFromInline var evictions = 0
  @usableFromInline var expirations = 0
  @usableFromInline var rejections = 0

  /// The most that one entry may cost, by default or by wish.
  var entryLimit: Int { entryCostLimit ?? costLimit.map { $0 / 4 } ?? .max }

  init(_ policy: EvictionPolicy, countLimit: Int?, costLimit: Int?, ageLimit: Duration?) {
    self.countLimit = countLimit
    self.costLimit = costLimit
    self.ageLimit = ageLimit
    evictor = Evictor(policy, limit: Amount(count: countLimit ?? .max, cost: costLimit ?? .max))
  }

  /// What comes of the wish to store an entry.
  @usableFromInline
  enum Admission {
    case fits
    /// Others have to leave first.
    case isTight
    case isRefused
    /// What it was made from has changed meanwhile.
    case isObsolete
  }

  /// Whether an entry may be stored, in place of another one if `slot` is not negative.
  ///
  /// It changes nothing but the number of refusals; but what only reads such a large structure gets a copy of it.
  @usableFromInline
  mutating func admission(cost: Int, isPinned: Bool, isOver: Bool, slot: Int32) -> Admission {
    if isOver { return .isRefused }
    guard cost <= entryLimit,
      Amount().hasRoom(forCost: cost, within: evictor.limit),
      !isPinned || evictor.hasRoomForPinned(cost, replacing: slot)
    else {
      rejections += 1
      return .isRefused
    }
    return evictor.hasRoom(forCost: cost, replacing: slot) ? .fits : .isTight
  }

  /// Whether an entry fits now.
  @usableFromInline
  mutating func hasRoom(forCost cost: Int, replacing slot: Int32) -> Bool {
    evictor.hasRoom(forCost: cost, replacing: slot)
  }
}
