/// A part of a memory cache: the entries whose hashes start alike, in one table.
@usableFromInline
struct MemoryShard<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// An entry, or a free place for one.
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline var key: Key?
    @usableFromInline var value: Value?
    /// Where the evictor knows it; in a free place the next free one.
    @usableFromInline var slot: Int32
    /// How often it was asked for since the evictor asked about it last, at most 15.
    @usableFromInline var uses: UInt8

    @inlinable
    init(key: Key?, value: Value?, slot: Int32) {
      self.key = key
      self.value = value
      self.slot = slot
      uses = 0
    }
  }

  @usableFromInline var index = HashIndex()
  @usableFromInline var entries: [Entry] = []
  @usableFromInline var firstFree: Int32 = -1
  /// When each entry expires; empty as long as none ever does.
  @usableFromInline var times: [EntryTimes] = []
  /// The state of the keys' versions; empty until somebody asks for one.
  @usableFromInline var stripes: [VersionStripe] = []
  @usableFromInline var hits = 0
  @usableFromInline var misses = 0

  @inlinable
  init() {}

  /// Where the entry of a key is.
  @inlinable
  @inline(__always)
  func position(of key: Key, hash: UInt64) -> Int? {
    index.position(of: hash) { entries[$0].key == key }
  }

  /// Where the entry is that the evictor knows under `slot`.
  @inlinable
  func position(ofSlot slot: Int32, hash: UInt64) -> Int? {
    index.position(of: hash) { entries[$0].slot == slot && entries[$0].key != nil }
  }

  /// Adds an entry that is not there.
  @inlinable
  mutating func insert(_ key: Key, _ value: Value, hash: UInt64, slot: Int32, times new: EntryTimes?) {
    let position: Int
    if firstFree >= 0 {
      position = Int(firstFree)
      firstFree = entries[position].slot
      entries[position] = Entry(key: key, value: value, slot: slot)
      if !times.isEmpty { times[position] = new ?? .untimed }
    } else {
      position = entries.count
      entries.append(Entry(key: key, value: value, slot: slot))
      if !times.isEmpty { times.append(new ?? .untimed) }
    }
    if let new, times.isEmpty {
      times = [EntryTimes](repeating: .untimed, count: entries.count)
      times[position] = new
    }
    index.insert(position, hash: hash)
  }

  /// Takes an entry out.
  ///
  /// - Returns: The key and the value, to be released by the caller when it has no lock any more.
  @inlinable
  mutating func remove(at position: Int, hash: UInt64) -> Entry {
    index.remove(position, hash: hash)
    let removed = entries[position]
    entries[position] = Entry(key: nil, value: nil, slot: firstFree)
    firstFree = Int32(truncatingIfNeeded: position)
    return removed
  }

  /// Begins to keep times, as of now.
  @inlinable
  mutating func keepTimes(now: Int64) {
    if times.isEmpty { times = [EntryTimes](repeating: EntryTimes(accessed: now), count: entries.count) }
  }

  /// Counts a use.
  ///
  /// - Returns: Where the evictor knows the entry.
  @inlinable
  mutating func use(_ position: Int) -> Int32 {
    if entries[position].uses < 15 { entries[position].uses &+= 1 }
    return entries[position].slot
  }

  /// How often an entry was asked for since the last call.
  @inlinable
  mutating func takeUses(ofSlot slot: Int32, hash: UInt64) -> Int {
    guard let position = position(ofSlot: slot, hash: hash) else { return 0 }
    let uses = entries[position].uses
    if uses > 0 { entries[position].uses = 0 }
    return Int(uses)
  }

  /// Puts another value into an entry.
  ///
  /// - Returns: The old value, to be released by the caller when it has no lock any more.
  @inlinable
  mutating func replace(at position: Int, with value: Value, times new: EntryTimes?) -> Entry {
    let old = Entry(key: nil, value: entries[position].value, slot: -1)
    entries[position].value = value
    _ = use(position)
    if new != nil, times.isEmpty { times = [EntryTimes](repeating: .untimed, count: entries.count) }
    if !times.isEmpty { times[position] = new ?? .untimed }
    return old
  }

  /// Takes all entries out.
  ///
  /// - Returns: What was there, to be released by the caller when it has no lock any more.
  mutating func removeAll() -> MemoryShard {
    let old = self
    self = MemoryShard()
    stripes = old.stripes
    for index in stripes.indices { stripes[index].version += 1 }
    (hits, misses) = (old.hits, old.misses)
    return old
  }

  /// Whether nothing has changed under a hash since `version`; `nil` is always so.
  @inlinable
  func isCurrent(_ version: MemoryCacheVersion?, _ hash: UInt64) -> Bool {
    guard let version else { return true }
    guard !stripes.isEmpty else { return false }
    let stripe = stripes[VersionStripe.index(hash)]
    return stripe.pending == 0 && stripe.version == version.number
  }

  /// Notes a change under a hash.
  @inlinable
  mutating func change(_ hash: UInt64) {
    if !stripes.isEmpty { stripes[VersionStripe.index(hash)].version &+= 1 }
  }

  /// Begins to keep versions.
  mutating func keepVersions() {
    if stripes.isEmpty { stripes = [VersionStripe](repeating: VersionStripe(), count: VersionStripe.count) }
  }

  /// Gives the room of entries back that are gone.
  mutating func compact() {
    guard index.count * 2 < entries.count else { return }
    let old = self
    index = HashIndex()
    entries = []
    times = []
    firstFree = -1
    for (position, entry) in old.entries.enumerated() {
      guard let key = entry.key, let value = entry.value else { continue }
      insert(
        key, value, hash: MemoryCache<Key, Value>.hash(of: key), slot: entry.slot,
        times: old.times.isEmpty ? nil : old.times[position])
      entries[entries.count - 1].uses = entry.uses
    }
  }
}
