/// How many entries there are, and what they cost together; or how much of both there may be.
@usableFromInline
struct Amount: Sendable, Equatable {
  @usableFromInline var count = 0
  @usableFromInline var cost = 0

  static let unlimited = Amount(count: .max, cost: .max)

  @inlinable
  init(count: Int = 0, cost: Int = 0) {
    self.count = count
    self.cost = cost
  }

  /// Whether one more entry fits in `limit`; the sum of the costs cannot overflow then.
  @inlinable
  func hasRoom(forCost cost: Int, within limit: Amount) -> Bool {
    count < limit.count && cost <= limit.cost && self.cost <= limit.cost - cost
  }

  /// Whether it is more than that in number or in cost.
  func exceeds(_ limit: Amount) -> Bool { count > limit.count || cost > limit.cost }

  /// Whether an entry fits in `limit`, in place of one that costs `old`, if there is one.
  @inlinable
  func hasRoom(forCost cost: Int, within limit: Amount, replacing old: Int?) -> Bool {
    guard let old else { return hasRoom(forCost: cost, within: limit) }
    return Amount(count: count - 1, cost: self.cost - old).hasRoom(forCost: cost, within: limit)
  }

  /// A part of a limit; at least one entry, or a cost of one.
  func share(_ part: Double) -> Amount {
    Amount(
      count: count == .max ? .max : max(1, Int(Double(count) * part)),
      cost: cost == .max ? .max : max(1, Int(Double(cost) * part)))
  }

  /// What a limit leaves beside a part of it.
  func without(_ part: Amount) -> Amount {
    Amount(count: count == .max ? .max : count - part.count, cost: cost == .max ? .max : cost - part.cost)
  }
}
