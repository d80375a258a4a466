/// A part of a memory cache: the entries whose hashes start alike, in one open-addressing table.
///
/// A look-up reads a mark of two bytes, then the entry, and writes only the mark: marks are many to a cache line, so that
/// a look-up waits for memory once before it has the value. At most three quarters of the places are used.
@usableFromInline
struct MemoryShard<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// An entry, or an empty place for one.
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline var key: Key?
    @usableFromInline var value: Value?
    /// The lower half of the hash, which says where the entry belongs.
    @usableFromInline var hash: UInt32 = 0
    /// Where the evictor knows it.
    @usableFromInline var slot: Int32 = -1
    /// What the ledger counts for it; ``pinned`` for an entry that is pinned.
    @usableFromInline var cost = 0

    @inlinable static var pinned: Int { -1 }

    @inlinable
    init() {}

    @inlinable
    init(key: Key?, value: Value?, hash: UInt32, slot: Int32, cost: Int) {
      self.key = key
      self.value = value
      self.hash = hash
      self.slot = slot
      self.cost = cost
    }
  }

  /// For each place 0 if it is empty, or else: the uppermost bit, eleven bits of the hash, and four bits that count how
  /// often the entry was asked for since the evictor asked about it last.
  @usableFromInline var marks = [UInt16](repeating: 0, count: 4)
  @usableFromInline var entries = [Entry](repeating: Entry(), count: 4)
  @usableFromInline var count = 0
  /// When each entry expires; empty as long as none ever does.
  @usableFromInline var times: [EntryTimes] = []
  /// The state of the keys' versions; empty until somebody asks for one.
  @usableFromInline var stripes: [VersionStripe] = []
  @usableFromInline var hits = 0
  @usableFromInline var misses = 0

  @inlinable
  init() {}

  /// The mark of an entry that was never asked for. The bits of the hash are others than those of its place.
  @inlinable
  @inline(__always)
  static func mark(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash &>> 28) & 0x7FF0 | 0x8000 }

  /// Where the entry of a key is, until the next change.
  @inlinable
  @inline(__always)
  func position(of key: Key, hash: UInt64) -> Int? {
    let mask = marks.count &- 1
    let mark = Self.mark(hash)
    var position = Int(truncatingIfNeeded: hash & 0xFFFF_FFFF) & mask
    while true {
      let found = marks[position]
      // Through a span, which compares the key in place instead of a copy.
      if found & 0xFFF0 == mark, entries.span[position].key == key { return position }
      if found == 0 { return nil }
      position = (position &+ 1) & mask
    }
  }

  /// Where the entry is that the evictor knows under `slot`, until the next change.
  @inlinable
  func position(ofSlot slot: Int32, hash: UInt64) -> Int? {
    let mask = marks.count &- 1
    let mark = Self.mark(hash)
    var position = Int(truncatingIfNeeded: hash & 0xFFFF_FFFF) & mask
    while true {
      let found = marks[position]
      if found & 0xFFF0 == mark, entries[position].slot == slot { return position }
      if found == 0 { return nil }
      position = (position &+ 1) & mask
    }
  }

  /// Counts a use.
  ///
  /// - Returns: Where the evictor knows the entry.
  @inlinable
  @inline(__always)
  mutating func use(_ position: Int) -> Int32 {
    let mark = marks[position]
    if mark & 15 < 15 { marks[position] = mark &+ 1 }
    return entries[position].slot
  }

  /// How often an entry was asked for since the last call.
  @inlinable
  mutating func takeUses(ofSlot slot: Int32, hash: UInt64) -> Int {
    guard let position = position(ofSlot: slot, hash: hash) else { return 0 }
    let uses = marks[position] & 15
    if uses > 0 { marks[position] &-= uses }
    return Int(uses)
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

  /// Begins to keep times, as of now.
  mutating func keepTimes(now: Int64) {
    if times.isEmpty { times = [EntryTimes](repeating: EntryTimes(accessed: now), count: entries.count) }
  }
}
