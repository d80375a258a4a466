import LMDB

/// What one write does to a cache: it keeps the databases in step, the totals right and the limits held.
///
/// Made anew for each run of a transaction, since that may run twice; what is to happen outside follows the commit.
/// Not copyable, since the compiler would copy it more than once a write.
struct DiskCacheEdit: ~Copyable {
  let tables: DiskCacheTables
  /// In ms since 1970.
  let now: Int64
  var limits: DiskCache.Limits
  let touches: DiskCacheTouches
  let hits: DiskCacheHits
  var totals: DiskCacheTotals
  /// Whether somebody wants to know of each change.
  let isWatched: Bool
  /// What is to happen after the commit.
  var aftermath = Aftermath()
  /// How many entries were removed because their time was over.
  var expired = 0
  /// The record that was written last.
  var written: DiskCacheRecord?
  /// Whether a damaged record was met, whose part in the totals is not known.
  var mustRecount = false

  /// What a write leaves to do and to tell.
  struct Aftermath: Sendable {
    var events: [CacheEvent] = []
    /// What has changed, if somebody wants to know.
    var changes: [CacheChange] = []
    /// The names of files whose entries are gone.
    var obsoleteFiles: [UInt64] = []
    /// What is counted of it.
    var counts = DiskCacheStatistics()
  }

  init(
    _ tables: DiskCacheTables, now: Int64, limits: DiskCache.Limits, touches: DiskCacheTouches, hits: DiskCacheHits,
    isWatched: Bool, in transaction: borrowing ReadTransaction
  ) throws(StoreError) {
    self.tables = tables
    self.now = now
    self.limits = limits
    self.touches = touches
    self.hits = hits
    self.isWatched = isWatched
    totals = try tables.totals(in: transaction)
  }

  /// Writes the totals; the last step of an edit.
  mutating func finish(in transaction: inout WriteTransaction) throws(StoreError) {
    if mustRecount { try recount(in: transaction.reader) }
    // Each commit has a number of its own, so that a flush can tell whether there was one meanwhile.
    _ = totals.nextVersion(at: now)
    let bytes = totals.encoded()
    try transaction.set(bytes, forKey: "totals", in: tables.meta)
  }

  /// The record under a key, if there is one that can be read.
  func record(
    _ key: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> (record: DiskCacheRecord?, exists: Bool) {
    guard let bytes = try transaction.value(forKey: key.span, in: tables.entries) else { return (nil, false) }
    return (DiskCacheRecord(bytes), true)
  }

  /// Why an entry is removed.
  enum Removal {
    /// Somebody asked for it.
    case removed
    case evicted(CacheEvent.Cause)
    case damaged
    /// Another one takes its place.
    case replaced
  }

  /// Removes the entry under a key of the tree, with all its rows.
  ///
  /// - Returns: The record that was there, unless it was damaged.
  @discardableResult
  mutating func remove(
    _ key: [UInt8], as removal: Removal, in transaction: inout WriteTransaction
  ) throws(StoreError) -> DiskCacheRecord? {
    let (found, exists) = try record(key, in: transaction.reader)
    guard exists else { return nil }
    try note(removal, of: key, found, in: transaction.reader)
    guard let found else {
      mustRecount = true
      try transaction.removeValue(forKey: key.span, in: tables.entries)
      try transaction.removeValue(forKey: (key + [0]).span, in: tables.entries)
      return nil
    }
    try removeRows(of: found, key, in: &transaction)
    try transaction.removeValue(forKey: key.span, in: tables.entries)
    if found.flags == .split { try transaction.removeValue(forKey: (key + [0]).span, in: tables.entries) }
    totals.add(found, sign: -1)
    return found
  }

  /// Counts a removal, and tells of it.
  private mutating func note(
    _ removal: Removal, of key: [UInt8], _ record: DiskCacheRecord?, in transaction: borrowing ReadTransaction
  ) throws(StoreError) {
    func name() throws(StoreError) -> String {
      // A damaged one may not say what its whole key was.
      guard let record else { return DiskCacheKey(stored: key, full: []).text }
      return try self.text(of: key, record, in: transaction)
    }
    switch removal {
    case .replaced: break
    case .removed: if isWatched { aftermath.changes.append(.removed(key: try name())) }
    case .damaged:
      aftermath.counts.damaged += 1
      if isWatched { aftermath.changes.append(.damaged(key: try name())) }
    case .evicted(let cause):
      aftermath.counts.evictions[cause, default: 0] += 1
      let name = try name()
      aftermath.events.append(.evicted(key: name, cause))
      if isWatched { aftermath.changes.append(.evicted(key: name, cause)) }
    }
  }

  /// Removes what other databases have on an entry, while its record is still there.
  private mutating func removeRows(
    of record: DiskCacheRecord, _ key: [UInt8], in transaction: inout WriteTransaction
  ) throws(StoreError) {
    try removeFromOrder(record, in: &transaction)
    if record.expiresAt != 0 {
      try transaction.removeValue(forKey: DiskCacheTables.expiryKey(record).span, in: tables.expiry)
    }
    if record.extraLength > 0 {
      for tag in try extra(of: record, key, in: transaction.reader).tags {
        try transaction.removeValue(forKey: DiskCacheTables.tagKey(tag, record.version).span, in: tables.tags)
      }
    }
    if record.flags == .file, let name = try fileName(of: record, key, in: transaction.reader) {
      try transaction.removeValue(forKey: name.bigEndianBytes.span, in: tables.files)
      aftermath.obsoleteFiles.append(name)
    }
  }

  private func removeFromOrder(_ record: DiskCacheRecord, in transaction: inout WriteTransaction) throws(StoreError) {
    let lastUse = try tables.lastUse(of: record, in: transaction.reader)
    try transaction.removeValue(
      forKey: DiskCacheTables.orderKey(record.priority, lastUse), in: tables.order)
    if lastUse != record.stamp {
      try transaction.removeValue(forKey: ShortBytes(bigEndian: record.stamp), in: tables.touches)
    }
  }

  private mutating func extra(
    of record: DiskCacheRecord, _ key: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> DiskCacheExtra {
    guard let bytes = try transaction.value(forKey: key.span, in: tables.entries) else {
      return DiskCacheExtra()
    }
    do throws(Malformed) {
      return try DiskCacheExtra(record, in: bytes)
    } catch {
      mustRecount = true
      return DiskCacheExtra()
    }
  }

  private func fileName(
    of record: DiskCacheRecord, _ key: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> UInt64? {
    guard let bytes = try transaction.value(forKey: key.span, in: tables.entries), bytes.count >= record.valueOffset + 8
    else { return nil }
    return bytes.littleEndian(UInt64.self, at: record.valueOffset) ?? 0
  }

  /// The key as the caller knows it, for events.
  mutating func text(
    of key: [UInt8], _ record: DiskCacheRecord, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> String {
    let full = record.extraLength > 0 ? try extra(of: record, key, in: transaction).fullKey : []
    return DiskCacheKey(stored: key, full: full).text
  }

  /// Removes everything, by giving the pages back.
  mutating func removeAll(in transaction: inout WriteTransaction) throws(StoreError) {
    aftermath.obsoleteFiles += try tables.rows(of: tables.files, limit: .max, in: transaction.reader).compactMap {
      UInt64(bigEndianBytes: $0.key)
    }
    for database in [tables.entries, tables.order, tables.touches, tables.expiry, tables.tags, tables.files] {
      try transaction.removeEverything(in: database)
    }
    var empty = DiskCacheTotals()
    empty.last = totals.nextVersion(at: now)
    empty.inlineThreshold = totals.inlineThreshold
    totals = empty
    if isWatched { aftermath.changes.append(.removedAll) }
  }

  /// Adds up the totals from the records, after one was met that does not say what its part was.
  private mutating func recount(in transaction: borrowing ReadTransaction) throws(StoreError) {
    var sum = DiskCacheTotals()
    sum.last = totals.last
    sum.inlineThreshold = totals.inlineThreshold
    var cursor = try transaction.cursor(in: tables.entries)
    while try cursor.next() {
      if !DiskCacheKey.isTail(cursor.key), let record = DiskCacheRecord(cursor.value) { sum.add(record) }
    }
    totals = sum
  }
}

extension UInt64 {
  /// A number from a key.
  init?(bigEndianBytes bytes: [UInt8]) {
    guard bytes.count == 8 else { return nil }
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
