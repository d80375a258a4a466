public import LMDB
import Synchronization

extension MemoryCache {
  /// Stores a value; if `version` is given, only if nothing has changed since.
  @inlinable
  func store(
    _ value: Value, _ key: Key, cost: Int, isPinned: Bool, times: EntryTimes?, version: MemoryCacheVersion?
  ) -> Bool {
    precondition(cost >= 0, "The cost of an entry is not negative.")
    let hash = Self.hash(of: key)
    let shard = shard(hash)
    var garbage: [MemoryShard<Key, Value>.Entry] = []
    let isStored = ledger.update { ledger -> Bool in
      takeTouches(&ledger)
      let found = shard.update { shard -> (isCurrent: Bool, slot: Int32?) in
        (shard.isCurrent(version, hash), shard.position(of: key, hash: hash).map { shard.entries[$0].slot })
      }
      guard found.isCurrent else { return false }
      let isAllowed = isPermitted(cost, isPinned, times, found.slot, &ledger)
      guard isAllowed, makeRoom(cost, isPinned, replacing: found.slot, &ledger, &garbage) else {
        if let removed = remove(key, hash, &ledger) { garbage.append(removed) }
        return false
      }
      guard let slot = found.slot else {
        let slot = ledger.evictor.insert(hash: hash, cost: cost, isPinned: isPinned)
        let isInserted = shard.update { shard -> Bool in
          guard shard.isCurrent(version, hash) else { return false }
          shard.insert(key, value, hash: hash, slot: slot, times: times)
          if version == nil { shard.change(hash) }
          return true
        }
        if isInserted { ledger.insertions &+= 1 } else { ledger.evictor.remove(slot) }
        return isInserted
      }
      let replaced = shard.update { shard -> MemoryShard<Key, Value>.Entry? in
        guard shard.isCurrent(version, hash), let position = shard.position(of: key, hash: hash) else { return nil }
        if version == nil { shard.change(hash) }
        return shard.replace(at: position, with: value, times: times)
      }
      if let replaced {
        ledger.evictor.replace(slot, cost: cost, isPinned: isPinned)
        garbage.append(replaced)
      }
      return replaced != nil
    }
    if isStored, let times { expectEnd(of: times) }
    if !garbage.isEmpty { release(garbage) }
    return isStored
  }

  /// Whether an entry may be stored at all; if it may expire, look-ups know that from now on.
  @usableFromInline
  func isPermitted(
    _ cost: Int, _ isPinned: Bool, _ times: EntryTimes?, _ slot: Int32?, _ ledger: inout MemoryLedger
  ) -> Bool {
    if let times {
      isTimed.store(true, ordering: .releasing)
      if times.isExpired(at: times.accessed, ageLimit: ageLimitMilliseconds.load(ordering: .relaxed)) { return false }
    }
    guard cost <= ledger.greatestCost, Amount().hasRoom(forCost: cost, within: ledger.evictor.limit),
      !isPinned || ledger.evictor.hasRoomForPinned(cost, replacing: slot)
    else {
      ledger.rejections += 1
      return false
    }
    return true
  }

  /// Evicts until an entry fits, other ones than that which it replaces.
  ///
  /// - Returns: Whether it fits; not, if there are only pinned entries left.
  @inlinable
  func makeRoom(
    _ cost: Int, _ isPinned: Bool, replacing slot: Int32?, _ ledger: inout MemoryLedger,
    _ garbage: inout [MemoryShard<Key, Value>.Entry]
  ) -> Bool {
    if ledger.evictor.hasRoom(forCost: cost, replacing: slot) { return true }
    if let slot { ledger.evictor.shield(slot) }
    while !ledger.evictor.hasRoom(forCost: cost, replacing: slot) {
      guard let evicted = evict(within: nil, &ledger) else {
        ledger.rejections &+= 1
        return false
      }
      garbage.append(evicted)
    }
    return true
  }

  /// Evicts the next entry.
  ///
  /// - Parameter limit: What the cache may hold, if that is less than its limit.
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
    let hash = ledger.evictor.hash(of: slot)
    ledger.evictor.evict(slot)
    ledger.evictions &+= 1
    return shard(hash).update { shard in
      shard.position(ofSlot: slot, hash: hash).map { shard.remove(at: $0, hash: hash) }
    }
  }

  /// Removes an entry, which is a change of its key also if there is none.
  @usableFromInline
  func remove(_ key: Key, _ hash: UInt64, _ ledger: inout MemoryLedger) -> MemoryShard<Key, Value>.Entry? {
    let removed = shard(hash).update { shard in
      shard.change(hash)
      return shard.position(of: key, hash: hash).map { shard.remove(at: $0, hash: hash) }
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
