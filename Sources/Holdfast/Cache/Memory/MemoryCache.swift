public import LMDB
public import Synchronization

/// Values by key in memory, up to hard limits of number, cost and age; any thread may use it at any time.
///
/// ```swift
/// let thumbnails = MemoryCache<String, [UInt8]>(costLimit: 50_000_000)
/// thumbnails.setObject([0x47, 0x49, 0x46], forKey: "user:42")
/// let cached = thumbnails.object(forKey: "user:42")
/// ```
///
/// A look-up holds the lock of one of 32 parts of the table for its few stores, and waits for nobody else: not for a
/// trim, nor for another key's change. Changes wait for each other. Values are released when no lock is held, so that
/// the end of a value may use the cache. The limits hold at every moment: what has to leave does so before the new
/// value comes in. All operations of one key are in one order for all threads.
///
/// Nothing runs in the background unless entries expire; then one task sleeps until the next does.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A name for your own use.
  public let name: String
  /// Which entries leave first when it is full.
  public let policy: EvictionPolicy
  /// Where values are released that were replaced, removed or evicted.
  public let valueRelease: ValueRelease

  @usableFromInline let shards: [Guarded<MemoryShard<Key, Value>>]
  @usableFromInline let ledger: Guarded<MemoryLedger>
  /// Look-ups are noted for hashes that have no bit of these.
  @usableFromInline let mask: Atomic<UInt64>
  /// Whether some entry may expire.
  @usableFromInline let isTimed: Atomic<Bool>
  /// The limit of age in ms, for look-ups.
  let ageLimitMilliseconds: Atomic<Int64>
  /// The ledger's ``MemoryLedger/entryLimit``, for who does not ask the ledger.
  @usableFromInline let entryLimit: Atomic<Int>
  let touches = TouchBuffer()
  let pressure = Guarded(MemoryPressureState())
  let time: SystemTime

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - name: A name for your own use.
  ///   - countLimit: The most entries; `nil` is any number, 0 keeps nothing.
  ///   - costLimit: The most that all entries may cost together; `nil` is any cost, 0 keeps only what costs nothing. The
  ///     default is 15 % of the memory that this process may use, at most 256 MB.
  ///   - ageLimit: How long an entry stays without being asked for; `nil` is for ever, 0 keeps nothing.
  ///   - policy: Which entries leave first when it is full.
  ///   - valueRelease: Where values are released that were replaced, removed or evicted.
  public convenience init(
    name: String = "", countLimit: Int? = nil, costLimit: Int? = MemoryBudget.automatic, ageLimit: Duration? = nil,
    policy: EvictionPolicy = .adaptive, valueRelease: ValueRelease = .inline
  ) {
    self.init(
      name: name, countLimit: countLimit, costLimit: costLimit, ageLimit: ageLimit, policy: policy,
      valueRelease: valueRelease, time: .real)
  }

  init(
    name: String = "", countLimit: Int?, costLimit: Int?, ageLimit: Duration?, policy: EvictionPolicy,
    valueRelease: ValueRelease = .inline, time: SystemTime
  ) {
    precondition(countLimit ?? 0 >= 0 && costLimit ?? 0 >= 0, "A limit of a memory cache is not negative.")
    self.name = name
    self.policy = policy
    self.valueRelease = valueRelease
    self.time = time
    let first = MemoryLedger(policy, countLimit: countLimit, costLimit: costLimit, ageLimit: ageLimit)
    mask = Atomic(first.evictor.mask)
    entryLimit = Atomic(first.entryLimit)
    isTimed = Atomic(ageLimit != nil)
    ageLimitMilliseconds = Atomic(ageLimit?.milliseconds ?? .max)
    ledger = Guarded(first)
    shards = (0..<32).map { _ in Guarded(MemoryShard()) }
    observeMemoryPressure()
  }

  deinit {
    ledger.update { $0.purge }?.cancel()
    pressure.update { $0.observers }.forEach { $0.cancel() }
  }

  /// The hash of a key: the table's in the lower half, the shard's in the upper bits.
  @inlinable
  @inline(__always)
  static func hash(of key: Key) -> UInt64 { UInt64(truncatingIfNeeded: key.hashValue) &* 0x9E37_79B9_7F4A_7C15 }

  /// The part of the table that a hash belongs to.
  @inlinable
  @inline(__always)
  func shard(_ hash: UInt64) -> Guarded<MemoryShard<Key, Value>> { shards[Int(truncatingIfNeeded: hash &>> 59)] }

  /// The value of a key, or `nil`; counts as a use.
  ///
  /// Never waits for a trim or a change of another key longer than for a few stores.
  @inlinable
  public func object(forKey key: Key) -> Value? {
    let hash = Self.hash(of: key)
    if isTimed.load(ordering: .acquiring) { return timedObject(forKey: key, hash: hash) }
    var slot: Int32 = -1
    let found: Value? = shard(hash).update { shard in
      guard let position = shard.position(of: key, hash: hash) else {
        shard.misses &+= 1
        return nil
      }
      shard.hits &+= 1
      slot = shard.use(position)
      return shard.entries[position].value
    }
    if slot >= 0, hash & mask.load(ordering: .relaxed) == 0 { note(slot, hash) }
    return found
  }

  /// Whether a key has a value; does not count as a use.
  public func containsObject(forKey key: Key) -> Bool {
    let hash = Self.hash(of: key)
    let now = isTimed.load(ordering: .acquiring) ? time.now() : nil
    let ageLimit = ageLimitMilliseconds.load(ordering: .relaxed)
    return shard(hash).update { shard in
      guard let position = shard.position(of: key, hash: hash) else { return false }
      guard let now, !shard.times.isEmpty else { return true }
      return !shard.times[position].isExpired(at: now, ageLimit: ageLimit)
    }
  }

  /// Stores a value, in place of the one that is there.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: Its key.
  ///   - cost: What it counts against ``costLimit``, not negative; by default what an entry takes without what its value
  ///     points to. Values that are ``MemoryCost`` know better.
  ///   - lifetime: How long it stays; 0 or less is not at all.
  ///   - idleLimit: How long it stays without being asked for.
  ///   - isPinned: Whether it stays when others have to leave. It counts, it expires, and all pinned entries together may
  ///     take half of each limit.
  /// - Returns: Whether it is there. If it costs too much (``entryCostLimit``), or if its time is over, it is not, and the
  ///   value that was there is gone too.
  @discardableResult
  @inlinable
  public func setObject(
    _ value: Value, forKey key: Key, cost: Int = MemoryBudget.entryCost(Key.self, Value.self),
    lifetime: Duration? = nil, idleLimit: Duration? = nil, isPinned: Bool = false
  ) -> Bool {
    var times: EntryTimes?
    if lifetime != nil || idleLimit != nil || isTimed.load(ordering: .acquiring) {
      times = makeTimes(lifetime, idleLimit)
    }
    return store(value, key, cost: cost, isPinned: isPinned, times: times, version: nil)
  }

  /// Removes a value.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func removeObject(forKey key: Key) -> Bool {
    let hash = Self.hash(of: key)
    let removed = ledger.update { ledger in remove(key, hash, &ledger) }
    guard let removed else { return false }
    release([removed])
    return true
  }

  /// The value of a key; `nil` as a new value removes it.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { object(forKey: key) }
    set {
      if let newValue { setObject(newValue, forKey: key) } else { removeObject(forKey: key) }
    }
  }

  /// Removes all values. Takes as long as their release, which happens without a lock.
  public func removeAllObjects() {
    var garbage: [[MemoryShard<Key, Value>.Entry]] = []
    ledger.update { ledger in
      for shard in shards { garbage.append(shard.update { $0.removeAll() }) }
      ledger.evictor.removeAll()
      ledger.purge?.cancel()
      ledger.purge = nil
      ledger.purgeDue = .max
      if ledger.ageLimit == nil { isTimed.store(false, ordering: .releasing) }
    }
    for entries in garbage { release(entries) }
  }
}
