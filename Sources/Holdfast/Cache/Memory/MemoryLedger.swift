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

  init(_ policy: EvictionPolicy, countLimit: Int?, costLimit: Int?, ageLimit: Duration?) {
    self.countLimit = countLimit
    self.costLimit = costLimit
    self.ageLimit = ageLimit
    evictor = Evictor(policy, limit: Amount(count: countLimit ?? .max, cost: costLimit ?? .max))
  }

  /// The most that one entry may cost.
  @usableFromInline
  var greatestCost: Int { entryCostLimit ?? costLimit.map { $0 / 4 } ?? .max }
}
