import Synchronization

extension MemoryCache {
  /// How many entries there are, with those that have expired and are not purged yet. Waits for a change that goes on.
  public var totalCount: Int { ledger.update { $0.evictor.total.count } }

  /// What all entries cost together. Waits for a change that goes on.
  public var totalCost: Int { ledger.update { $0.evictor.total.cost } }

  /// The most entries; `nil` is any number, 0 keeps nothing. A lower limit evicts before it is set.
  public var countLimit: Int? {
    get { ledger.update { $0.countLimit } }
    set {
      precondition(newValue ?? 0 >= 0, "The count limit of a memory cache is not negative.")
      setLimits { $0.countLimit = newValue }
    }
  }

  /// The most that all entries may cost together; `nil` is any cost. A lower limit evicts before it is set.
  public var costLimit: Int? {
    get { ledger.update { $0.costLimit } }
    set {
      precondition(newValue ?? 0 >= 0, "The cost limit of a memory cache is not negative.")
      setLimits { $0.costLimit = newValue }
    }
  }

  /// The most that one entry may cost; `nil` is a quarter of ``costLimit``. A set above it stores nothing, and removes
  /// what was there. Entries that are there already stay.
  public var entryCostLimit: Int? {
    get { ledger.update { $0.entryCostLimit } }
    set {
      precondition(newValue ?? 0 >= 0, "The cost limit of an entry is not negative.")
      ledger.update { ledger in
        ledger.entryCostLimit = newValue
        entryLimit.store(ledger.entryLimit, ordering: .relaxed)
      }
    }
  }

  private func setLimits(_ change: (inout MemoryLedger) -> Void) {
    var garbage: [MemoryShard<Key, Value>.Entry] = []
    ledger.update { ledger in
      takeTouches(&ledger)
      change(&ledger)
      entryLimit.store(ledger.entryLimit, ordering: .relaxed)
      let limit = Amount(count: ledger.countLimit ?? .max, cost: ledger.costLimit ?? .max)
      evict(to: limit, &ledger, &garbage)
      // A limit is a promise also where pinned entries alone are more.
      while ledger.evictor.total.exceeds(limit), let slot = ledger.evictor.oldestPinned {
        if let evicted = evict(slot, &ledger) { garbage.append(evicted) }
      }
      ledger.evictor.setLimit(limit)
      takeTouches(&ledger)
    }
    release(garbage)
  }

  /// Evicts until there are at most so many entries, or only pinned ones.
  ///
  /// - Returns: How many were evicted.
  @discardableResult
  public func trim(toCount count: Int) -> Int { trim(to: Amount(count: max(count, 0), cost: .max)) }

  /// Evicts until the entries cost at most so much together, or only pinned ones are left.
  ///
  /// - Returns: How many were evicted.
  @discardableResult
  public func trim(toCost cost: Int) -> Int { trim(to: Amount(count: .max, cost: max(cost, 0))) }

  func trim(to limit: Amount) -> Int {
    var garbage: [MemoryShard<Key, Value>.Entry] = []
    ledger.update { ledger in
      takeTouches(&ledger)
      evict(to: limit, &ledger, &garbage)
    }
    defer { release(garbage) }
    return garbage.count
  }

  private func evict(
    to limit: Amount, _ ledger: inout MemoryLedger, _ garbage: inout [MemoryShard<Key, Value>.Entry]
  ) {
    while ledger.evictor.total.exceeds(limit), let evicted = evict(within: limit, &ledger) { garbage.append(evicted) }
  }
}
