public import LMDB
public import Synchronization

extension MemoryCache {
  /// Stores a value; if `version` is given, only if nothing has changed since.
  @inlinable
  func store(
    _ value: Value, _ key: Key, cost: Int, isPinned: Bool, times: EntryTimes?, version: MemoryCacheVersion?
  ) -> Bool {
    precondition(cost >= 0, "The cost of an entry is not negative.")
    let hash = Self.hash(of: key)
    var evicted: [MemoryShard<Key, Value>.Entry] = []
    if times == nil, version == nil, !isPinned, cost <= entryLimit.load(ordering: .relaxed),
      let old = shard(hash).update({ $0.replace(key, hash: hash, with: value, cost: cost) })
    {
      // The ledger's numbers stay as they are; it gets to know of the use as of a hit.
      if hash & mask.load(ordering: .relaxed) == 0 { note(old.slot, hash) }
      if valueRelease != .inline { release([old]) }
      return true
    }
    let shardCost = isPinned ? MemoryShard<Key, Value>.Entry.pinned : cost
    let (isStored, old) = ledger.update { ledger -> (Bool, MemoryShard<Key, Value>.Entry?) in
      takeTouches(&ledger)
      let isOver = times.map(isOver) ?? false
      // One look at the shard is enough for what is there and stays within the limits.
      var slot: Int32 = -1
      var admission = MemoryLedger.Admission.fits
      let replaced = shard(hash).update { shard -> MemoryShard<Key, Value>.Entry? in
        guard shard.isCurrent(version, hash) else {
          admission = .isObsolete
          return nil
        }
        let position = shard.position(of: key, hash: hash)
        if let position { slot = shard.entries[position].slot }
        admission = ledger.admission(cost: cost, isPinned: isPinned, isOver: isOver, slot: slot)
        guard let position, admission == .fits else { return nil }
        return shard.replace(
          at: position, hash: hash, with: value, cost: shardCost, times: times, isChange: version == nil)
      }
      switch admission {
      case .isObsolete: return (false, nil)
      case .fits: break
      case .isTight where makeRoom(cost, replacing: slot, &ledger, &evicted): break
      default: return (false, remove(key, hash, &ledger))
      }
      if slot < 0 { return (insert(value, key, hash, cost, isPinned, times, version, &ledger), nil) }
      let old =
        replaced
        ?? shard(hash).update { shard -> MemoryShard<Key, Value>.Entry? in
          guard shard.isCurrent(version, hash), let position = shard.position(of: key, hash: hash) else { return nil }
          return shard.replace(
            at: position, hash: hash, with: value, cost: shardCost, times: times, isChange: version == nil)
        }
      if old != nil { ledger.evictor.replace(slot, cost: cost, isPinned: isPinned) }
      return (old != nil, old)
    }
    if isStored, let times { expectEnd(of: times) }
    if let old, valueRelease != .inline { evicted.append(old) }
    if !evicted.isEmpty { release(evicted) }
    return isStored
  }

  /// Adds an entry for which there is room.
  @inlinable
  func insert(
    _ value: Value, _ key: Key, _ hash: UInt64, _ cost: Int, _ isPinned: Bool, _ times: EntryTimes?,
    _ version: MemoryCacheVersion?, _ ledger: inout MemoryLedger
  ) -> Bool {
    let slot = ledger.evictor.insert(hash: hash, cost: cost, isPinned: isPinned)
    let isInserted = shard(hash).update { shard -> Bool in
      guard shard.isCurrent(version, hash) else { return false }
      if version == nil { shard.change(hash) }
      let shardCost = isPinned ? MemoryShard<Key, Value>.Entry.pinned : cost
      shard.insert(key, value, hash: hash, slot: slot, cost: shardCost, times: times)
      return true
    }
    if isInserted { ledger.insertions &+= 1 } else { ledger.evictor.remove(slot) }
    return isInserted
  }

  /// Whether an entry has expired before it is stored; that it may expire at all is known to look-ups from now on.
  @usableFromInline
  func isOver(_ times: EntryTimes) -> Bool {
    isTimed.store(true, ordering: .releasing)
    return times.isExpired(at: times.accessed, ageLimit: ageLimitMilliseconds.load(ordering: .relaxed))
  }

  /// Evicts until an entry fits, other ones than that which it replaces.
  ///
  /// - Returns: Whether it fits; not, if there are only pinned entries left.
  @inlinable
  func makeRoom(
    _ cost: Int, replacing slot: Int32, _ ledger: inout MemoryLedger,
    _ evicted: inout [MemoryShard<Key, Value>.Entry]
  ) -> Bool {
    ledger.evictor.shield(slot)
    while !ledger.hasRoom(forCost: cost, replacing: slot) {
      guard let entry = evict(within: nil, &ledger) else {
        ledger.rejections &+= 1
        return false
      }
      evicted.append(entry)
    }
    return true
  }

  /// Evicts the next entry, for what the cache may hold: `limit`, if that is less than its own.
  @inlinable
  func evict(within limit: Amount?, _ ledger: inout MemoryLedger) -> MemoryShard<Key, Value>.Entry? {
    let victim = ledger.evictor.victim(within: limit) { slot, hash in
      shard(hash).update { $0.takeUses(ofSlot: slot, hash: hash) }
    }
    guard let victim else { return nil }
    return evict(victim, &ledger)
  }

  /// Evicts an entry.
  @inlinable
  func evict(_ slot: Int32, _ ledger: inout MemoryLedger) -> MemoryShard<Key, Value>.Entry? {
    let hash = ledger.evictor.evict(slot)
    ledger.evictions &+= 1
    return shard(hash).update { shard in
      shard.position(ofSlot: slot, hash: hash).map { shard.remove(at: $0) }
    }
  }

  /// Removes an entry, which is a change of its key also if there is none.
  @usableFromInline
  func remove(_ key: Key, _ hash: UInt64, _ ledger: inout MemoryLedger) -> MemoryShard<Key, Value>.Entry? {
    let removed = shard(hash).update { shard in
      shard.change(hash)
      return shard.position(of: key, hash: hash).map { shard.remove(at: $0) }
    }
    if let removed { ledger.evictor.remove(removed.slot) }
    return removed
  }

  /// Notes a look-up for the evictor.
  @usableFromInline
  func note(_ slot: Int32, _ hash: UInt64) {
    if touches.note(Touch(slot: slot, hash: hash)) { _ = ledger.tryUpdate { takeTouches(&$0) } }
  }

  /// Tells the evictor what was asked for.
  @usableFromInline
  func takeTouches(_ ledger: inout MemoryLedger) {
    touches.drain { ledger.evictor.use($0.slot, hash: $0.hash) }
    let new = ledger.evictor.mask
    if new != mask.load(ordering: .relaxed) { mask.store(new, ordering: .relaxed) }
  }
}
