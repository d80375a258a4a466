import LMDB

extension DiskCacheEdit {
  /// How many rows are looked at, at a time.
  private static let batch = 32

  /// Removes the least recently used entries until count and cost are within their limits; not `key`, which was just
  /// written. What is pinned takes at most half of a limit and `key` at most a quarter of the cost, so that there is an end.
  mutating func enforceLimits(keeping key: [UInt8], in transaction: inout WriteTransaction) throws(StoreError) {
    if let limit = limits.countLimit {
      try evict(.count, keeping: key, in: &transaction) { $0.count > limit }
    }
    if let limit = limits.costLimit {
      try evict(.cost, keeping: key, in: &transaction) { $0.cost > limit }
    }
  }

  /// Removes entries in the order of their use, the least recent first, while `isOver` says so.
  ///
  /// - Returns: How many were removed; at most `limit`.
  @discardableResult
  mutating func evict(
    _ cause: CacheEvent.Cause, keeping kept: [UInt8]? = nil, limit: Int = .max,
    in transaction: inout WriteTransaction, while isOver: (DiskCacheTotals) -> Bool
  ) throws(StoreError) -> Int {
    var removed = 0
    var skipped = 0
    while removed < limit && isOver(totals) {
      let rows = try tables.rows(
        DiskCacheTables.evictable, of: tables.order, limit: min(Self.batch, limit) + skipped, in: transaction.reader
      ).dropFirst(skipped)
      if rows.isEmpty { break }
      for row in rows where removed < limit && isOver(totals) {
        if row.value == kept {
          skipped += 1
        } else if try evict(row.value, at: row.key, cause, in: &transaction) {
          removed += 1
        }
      }
    }
    return removed
  }

  /// Removes one entry, unless it was read since, which the order does not know yet: then it gets its true place.
  private mutating func evict(
    _ key: [UInt8], at place: [UInt8], _ cause: CacheEvent.Cause, in transaction: inout WriteTransaction
  ) throws(StoreError) -> Bool {
    let (record, exists) = try record(key, in: transaction.reader)
    guard let record else {
      try transaction.removeValue(forKey: place.span, in: tables.order)
      if exists { try remove(key, as: .damaged, in: &transaction) }
      return false
    }
    let use = try tables.use(of: record, in: transaction.reader)
    guard DiskCacheTables.orderKey(record.priority, use.last).equals(place.span) else {
      // A row that is nobody's place.
      try transaction.removeValue(forKey: place.span, in: tables.order)
      return false
    }
    if let time = touches.time(of: record.version), UInt64(clamping: time) &* 1000 > use.last {
      try move(record, key, from: use, usedAt: time, in: &transaction)
      touches.settle(record.version)
      return false
    }
    try remove(key, as: .evicted(cause), in: &transaction)
    return true
  }

  /// Gives entries that were read their place in the order.
  mutating func apply(_ reads: [DiskCacheTouches.Touch], in transaction: inout WriteTransaction) throws(StoreError) {
    for read in reads {
      var record = DiskCacheRecord()
      record.version = read.version
      record.stamp = read.stamp
      record.priority = read.priority
      let use = try tables.use(of: record, in: transaction.reader)
      let place = DiskCacheTables.orderKey(read.priority, use.last)
      // The entry may be gone, or have been written anew.
      guard !isFresh(use.last), let key = try key(at: place, in: transaction.reader) else { continue }
      try move(record, key, from: use, usedAt: read.time, in: &transaction)
    }
  }

  /// The key that has a place in the order.
  private func key(at place: ShortBytes, in transaction: borrowing ReadTransaction) throws(StoreError) -> [UInt8]? {
    guard let found = try transaction.value(forKey: place, in: tables.order) else { return nil }
    return [UInt8](copying: found)
  }

  /// Gives an entry the place of the time when it was used, not of now: what is too old by then stays too old. Its hits
  /// go to disk with it.
  private mutating func move(
    _ record: DiskCacheRecord, _ key: [UInt8], from old: DiskCacheUse, usedAt time: Int64,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    var newest = max(old.last &+ 1, UInt64(clamping: time) &* 1000)
    while newest <= totals.last,
      try self.key(at: DiskCacheTables.orderKey(record.priority, newest), in: transaction.reader) != nil
    {
      newest += 1
    }
    // Above all numbers that were given, none that will be may be taken.
    if newest > totals.last { newest = totals.nextVersion(at: time) }
    try transaction.removeValue(
      forKey: DiskCacheTables.orderKey(record.priority, old.last), in: tables.order)
    try transaction.set(
      key.span, forKey: DiskCacheTables.orderKey(record.priority, newest), in: tables.order)
    var new = old
    new.last = newest
    new.version = record.version
    new.hits = old.hits(of: record.version) &+ hits.take(record.version)
    try transaction.set(new.encoded(), forKey: ShortBytes(bigEndian: record.stamp), in: tables.touches)
  }

  /// Removes entries whose time is over, the longest over first.
  ///
  /// - Parameters:
  ///   - limit: How many to remove at most.
  ///   - transaction: The write.
  /// - Throws: What LMDB refuses.
  mutating func purgeExpired(limit: Int, in transaction: inout WriteTransaction) throws(StoreError) {
    let before = expired
    if try transaction.reader.count(of: tables.expiry) > 0 {
      let end = UInt64(clamping: now).advanced(by: 1).bigEndianBytes
      let rows = try tables.rows(
        KeyRange(upper: .excluded(end)), of: tables.expiry, limit: limit, in: transaction.reader)
      for row in rows {
        try transaction.removeValue(forKey: row.key.span, in: tables.expiry)
        try expire(row.value, in: &transaction)
      }
    }
    try purgeUnused(limit: limit - (expired - before), in: &transaction)
  }

  /// Removes what has not been used for longer than the age limit.
  private mutating func purgeUnused(limit: Int, in transaction: inout WriteTransaction) throws(StoreError) {
    guard let age = limits.ageLimit else { return }
    var removed = 0
    for priority in CachePriority.allCases {
      let oldest = UInt64(clamping: now - age.milliseconds) &* 1000
      let range = KeyRange.range([priority.rawValue], upTo: DiskCacheTables.orderKey(priority, oldest).array)
      for row in try tables.rows(range, of: tables.order, limit: limit - removed, in: transaction.reader) {
        if try evict(row.value, at: row.key, .expired, in: &transaction) { removed += 1 }
      }
    }
    expired += removed
  }

  private mutating func expire(_ key: [UInt8], in transaction: inout WriteTransaction) throws(StoreError) {
    let (record, exists) = try record(key, in: transaction.reader)
    guard exists else { return }
    // A row that an entry has left behind says nothing about it.
    if let record, record.expiresAt == 0 || record.expiresAt > now { return }
    try remove(key, as: record == nil ? .damaged : .evicted(.expired), in: &transaction)
    expired += 1
  }

  /// Removes the entries of several keys of the tree.
  mutating func removeAll(_ keys: [[UInt8]], in transaction: inout WriteTransaction) throws(StoreError) -> Int {
    var removed = 0
    for key in keys where try remove(key, as: .removed, in: &transaction) != nil { removed += 1 }
    return removed
  }

  /// Removes the entries of a tag.
  mutating func removeAll(tag: [UInt8], in transaction: inout WriteTransaction) throws(StoreError) -> Int {
    let rows = try tables.rows(
      .prefix(DiskCacheTables.tagPrefix(tag)), of: tables.tags, limit: .max, in: transaction.reader)
    var removed = 0
    for row in rows where row.key.count == tag.count + 9 {
      if try remove(row.value, as: .removed, in: &transaction) != nil { removed += 1 }
      try transaction.removeValue(forKey: row.key.span, in: tables.tags)
    }
    return removed
  }

  /// Removes the entries whose keys start with a prefix.
  mutating func removeAll(prefix: [UInt8], in transaction: inout WriteTransaction) throws(StoreError) -> Int {
    let keys = try keys(startingWith: prefix, in: transaction.reader)
    for key in keys { try remove(key, as: .removed, in: &transaction) }
    return keys.count
  }

  private func keys(
    startingWith prefix: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var cursor = try transaction.cursor(
      in: tables.entries, over: .prefix(Array(prefix.prefix(DiskCacheKey.plainLimit))))
    while try cursor.next() {
      if DiskCacheKey.isTail(cursor.key) { continue }
      let key = [UInt8](copying: cursor.key)
      var full: [UInt8] = []
      if key.count == DiskCacheKey.hashedLength, let record = DiskCacheRecord(cursor.value) {
        let extra = try? DiskCacheExtra(record, in: cursor.value)
        full = extra?.fullKey ?? []
      }
      if DiskCacheKey(stored: key, full: full).textBytes.starts(with: prefix) { keys.append(key) }
    }
    return keys
  }
}
