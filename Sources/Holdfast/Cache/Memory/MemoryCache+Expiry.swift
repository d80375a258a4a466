import Synchronization

extension MemoryCache {
  /// How long an entry stays without being asked for; `nil` is for ever, 0 or less keeps nothing. For entries that were
  /// stored while no time was kept, it begins now.
  public var ageLimit: Duration? {
    get { ledger.update { $0.ageLimit } }
    set {
      let now = time.now()
      ledger.update { ledger in
        ledger.ageLimit = newValue
        ageLimitMilliseconds.store(newValue?.milliseconds ?? .max, ordering: .releasing)
        if newValue != nil { keepTimes(now) }
      }
      if newValue != nil { purge() }
    }
  }

  /// How long expired entries may take room before they are removed; they are never returned. The default is 5 s.
  public var autoTrimInterval: Duration {
    get { .milliseconds(ledger.update { $0.purgeInterval }) }
    set { ledger.update { $0.purgeInterval = max(newValue.milliseconds, 1) } }
  }

  /// Removes entries that have not been asked for during `age`; 0 or less is all.
  ///
  /// Times are kept from the first call on, or since there is an ``ageLimit`` or an entry that expires: what was
  /// stored before counts as asked for at that moment.
  ///
  /// - Returns: How many were removed.
  @discardableResult
  public func trim(toAge age: Duration) -> Int {
    let now = time.now()
    ledger.update { _ in keepTimes(now) }
    let limit = age.milliseconds
    return removeEntries { limit <= 0 || $0.end(idleLimit: limit) <= now }.count
  }

  /// Removes what has expired.
  ///
  /// - Returns: How many were removed.
  @discardableResult
  public func removeExpiredObjects() -> Int {
    guard isTimed.load(ordering: .acquiring) else { return 0 }
    let now = time.now()
    let ageLimit = ageLimitMilliseconds.load(ordering: .relaxed)
    return removeEntries { $0.isExpired(at: now, ageLimit: ageLimit) }.count
  }

  /// A look-up where entries may expire.
  @usableFromInline
  func timedObject(forKey key: Key, hash: UInt64) -> Value? {
    let now = time.now()
    let ageLimit = ageLimitMilliseconds.load(ordering: .relaxed)
    var slot: Int32 = -1
    var isExpired = false
    let found: Value? = shard(hash).update { shard in
      guard let position = shard.position(of: key, hash: hash) else {
        shard.misses &+= 1
        return nil
      }
      if !shard.times.isEmpty {
        if shard.times[position].isExpired(at: now, ageLimit: ageLimit) {
          shard.misses &+= 1
          slot = shard.entries[position].slot
          isExpired = true
          return nil
        }
        if shard.times[position].accessed < now { shard.times[position].accessed = now }
      }
      shard.hits &+= 1
      slot = shard.use(position)
      return shard.entries[position].value
    }
    if isExpired {
      removeExpired(slot, hash, now, ageLimit)
    } else if slot >= 0, hash & mask.load(ordering: .relaxed) == 0 {
      note(slot, hash)
    }
    return found
  }

  private func removeExpired(_ slot: Int32, _ hash: UInt64, _ now: Int64, _ ageLimit: Int64) {
    let removed = ledger.update { ledger in
      // It may have been replaced meanwhile.
      let removed = shard(hash).update { shard -> MemoryShard<Key, Value>.Entry? in
        guard let position = shard.position(ofSlot: slot, hash: hash), !shard.times.isEmpty,
          shard.times[position].isExpired(at: now, ageLimit: ageLimit)
        else { return nil }
        return shard.remove(at: position)
      }
      if removed != nil {
        ledger.evictor.remove(slot)
        ledger.expirations += 1
      }
      return removed
    }
    if let removed { release([removed]) }
  }

  /// Removes entries by their times, a shard at a time.
  ///
  /// - Returns: How many were removed, and when the first of the others ends.
  @discardableResult
  private func removeEntries(where isOver: (EntryTimes) -> Bool) -> (count: Int, next: Int64) {
    var count = 0
    var next = Int64.max
    let ageLimit = ageLimitMilliseconds.load(ordering: .relaxed)
    for shard in shards {
      let garbage = ledger.update { ledger in
        let removed = shard.update { shard -> [MemoryShard<Key, Value>.Entry] in
          var removed: [MemoryShard<Key, Value>.Entry] = []
          var position = 0
          while position < shard.times.count {
            if shard.marks[position] != 0, isOver(shard.times[position]) {
              // Another entry may have moved to this place.
              removed.append(shard.remove(at: position))
              continue
            }
            if shard.marks[position] != 0 { next = min(next, shard.times[position].end(ageLimit: ageLimit)) }
            position += 1
          }
          return removed
        }
        for entry in removed { ledger.evictor.remove(entry.slot) }
        ledger.expirations += removed.count
        return removed
      }
      count += garbage.count
      release(garbage)
    }
    return (count, next)
  }

  /// Begins to keep times, if they are not kept yet.
  private func keepTimes(_ now: Int64) {
    isTimed.store(true, ordering: .releasing)
    for shard in shards { shard.update { $0.keepTimes(now: now) } }
  }

  /// The times of an entry that is stored now.
  @usableFromInline
  func makeTimes(_ lifetime: Duration?, _ idleLimit: Duration?) -> EntryTimes {
    let now = time.now()
    var times = EntryTimes(idleLimit: idleLimit?.milliseconds ?? .max, accessed: now)
    if let lifetime {
      let (end, overflow) = now.addingReportingOverflow(lifetime.milliseconds)
      times.expiresAt = overflow ? .max : end
    }
    return times
  }

  /// Sees to it that somebody looks when an entry ends.
  @usableFromInline
  func expectEnd(of times: EntryTimes) {
    let end = times.end(ageLimit: ageLimitMilliseconds.load(ordering: .relaxed))
    if end < .max { schedulePurge(end: end, now: times.accessed) }
  }

  private func schedulePurge(end: Int64, now: Int64) {
    ledger.update { ledger in
      let due = max(end, now + ledger.purgeInterval)
      // One that comes a little later will do.
      guard ledger.purgeDue == .max || due < ledger.purgeDue - ledger.purgeInterval else { return }
      ledger.purge?.cancel()
      ledger.purgeDue = due
      ledger.purge = Task { [weak self, time] in
        guard (try? await time.sleep(.milliseconds(due - now))) != nil else { return }
        self?.purge()
      }
    }
  }

  private func purge() {
    ledger.update { ledger in
      ledger.purgeDue = .max
      ledger.purge = nil
    }
    let now = time.now()
    let ageLimit = ageLimitMilliseconds.load(ordering: .relaxed)
    let next = removeEntries { $0.isExpired(at: now, ageLimit: ageLimit) }.next
    if next < .max { schedulePurge(end: next, now: now) }
  }
}
