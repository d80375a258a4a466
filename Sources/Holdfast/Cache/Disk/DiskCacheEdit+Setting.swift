import LMDB

extension DiskCacheEdit {
  /// A value on its way into a cache.
  struct NewEntry: Sendable {
    let key: DiskCacheKey
    var codec = CacheCodecID.bytes
    var options = CacheEntryOptions()
    /// The name, length and checksum of the file that holds the value, if it is in one.
    var file: (name: UInt64, length: Int, checksum: UInt64)?
    /// How long entries live for which nothing is said.
    var standardExpiration: Duration?
    /// Which version must be there for this one to take its place.
    var expected = Expected.any

    /// A condition on what is there.
    enum Expected: Sendable, Hashable {
      case any
      case nothing
      case version(UInt64)
    }
  }

  /// Puts a value under a key, in place of what is there, and makes room for it.
  mutating func set(
    _ value: borrowing Span<UInt8>, as entry: NewEntry, in transaction: inout WriteTransaction
  ) throws(StoreError) -> CacheStoreResult {
    let key = entry.key.bytes
    let old = try record(key, in: transaction.reader)
    guard try isExpected(old.record, entry.expected, in: transaction.reader) else {
      if let file = entry.file { aftermath.obsoleteFiles.append(file.name) }
      return .conflict
    }
    var new = DiskCacheRecord()
    new.length = entry.file?.length ?? value.count
    new.cost = Int64(entry.options.cost ?? new.length)
    new.priority = entry.options.priority
    new.codec = entry.codec
    new.loadTime = UInt32(clamping: entry.options.loadTime.milliseconds)
    new.expiresAt = expiry(entry)
    if let duration = entry.options.freshFor { new.freshUntil = end(of: duration) }
    if let refusal = refusal(of: new, replacing: old.record) {
      try remove(key, as: .removed, in: &transaction)
      if let file = entry.file { aftermath.obsoleteFiles.append(file.name) }
      aftermath.counts.rejections += 1
      return refusal
    }
    new.version = totals.nextVersion(at: now)
    new.stamp = entry.options.lastAccess.map { UInt64(clamping: $0) &* 1000 } ?? new.version
    let keepsPlace = try leave(old, to: &new, key, in: &transaction)
    if !keepsPlace && new.stamp != new.version {
      while try isPlaced(new.priority, try tables.lastUse(of: new, in: transaction.reader), in: transaction.reader) {
        new.stamp += 1
      }
    }
    let hasOldTail = keepsPlace && old.record?.flags == .split
    try write(value, &new, entry, hasOldTail: hasOldTail, in: &transaction)
    if !keepsPlace {
      try transaction.set(key.span, forKey: DiskCacheTables.orderKey(new.priority, new.stamp), in: tables.order)
    }
    try addRows(for: new, key, entry, in: &transaction)
    totals.add(new)
    written = new
    aftermath.counts.stores += 1
    aftermath.counts.storedBytes += new.length
    if isWatched { aftermath.changes.append(.stored(key: entry.key.text)) }
    try enforceLimits(keeping: key, in: &transaction)
    return .stored
  }

  /// Whether what is there is what somebody has seen; what no read returns any more is nothing.
  func isExpected(
    _ old: DiskCacheRecord?, _ expected: NewEntry.Expected, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    switch expected {
    case .any: return true
    case .nothing:
      guard let old else { return true }
      return try isOver(old, in: transaction)
    case .version(let version):
      guard let old, old.version == version else { return false }
      return try !isOver(old, in: transaction)
    }
  }

  /// Whether the time of an entry is over.
  private func isOver(
    _ record: DiskCacheRecord, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    try tables.isOver(
      record, at: now, ageLimit: limits.ageLimitInMilliseconds, noted: touches.time(of: record.version),
      in: transaction)
  }

  /// Why a value cannot stay, if it cannot.
  private func refusal(of new: DiskCacheRecord, replacing old: DiskCacheRecord?) -> CacheStoreResult? {
    if new.expiresAt != 0 && new.expiresAt <= now { return .expired }
    if let limit = limits.effectiveEntryCostLimit, new.cost > limit { return .rejected }
    // Totals are kept far from overflow.
    if Int(new.cost) > max(0, Int.max / 2 - max(0, totals.cost)) { return .rejected }
    if limits.countLimit ?? 1 <= 0 || limits.costLimit ?? 1 <= 0 { return .rejected }
    guard new.priority == .pinned else { return nil }
    let others = old?.priority == .pinned ? old : nil
    if let limit = limits.countLimit, totals.pinnedCount &- (others == nil ? 0 : 1) &+ 1 > limit / 2 {
      return .rejected
    }
    if let limit = limits.costLimit, totals.pinnedCost &- Int(others?.cost ?? 0) &+ Int(new.cost) > limit / 2 {
      return .rejected
    }
    return nil
  }

  private func expiry(_ entry: NewEntry) -> Int64 {
    let duration: Duration? =
      switch entry.options.expiration {
      case .standard: entry.standardExpiration
      case .never: nil
      case .after(let duration): duration
      }
    guard let duration else { return 0 }
    return end(of: duration)
  }

  /// When a time from now on is over; zero, which is never, for what the clock cannot tell.
  private func end(of duration: Duration) -> Int64 {
    let (sum, overflow) = now.addingReportingOverflow(duration.milliseconds)
    return overflow ? 0 : max(1, sum)
  }

  /// Takes the old entry away.
  ///
  /// One that was used a moment ago keeps its place in the order, and its record is written over: a row of writes to one
  /// key does not move it each time.
  ///
  /// - Returns: Whether the new entry has the old one's place.
  private mutating func leave(
    _ old: (record: DiskCacheRecord?, exists: Bool), to new: inout DiskCacheRecord, _ key: [UInt8],
    in transaction: inout WriteTransaction
  ) throws(StoreError) -> Bool {
    guard old.exists else { return false }
    guard let record = old.record, record.priority == new.priority, record.expiresAt == 0,
      record.extraLength == 0, record.flags != .file, new.stamp == new.version,
      case let lastUse = try tables.lastUse(of: record, in: transaction.reader), isFresh(lastUse),
      try isPlaced(record.priority, lastUse, in: transaction.reader)
    else {
      try remove(key, as: .replaced, in: &transaction)
      return false
    }
    totals.add(record, sign: -1)
    new.stamp = record.stamp
    return true
  }

  /// Whether a place in the order is so new that moving it would tell little.
  func isFresh(_ lastUse: UInt64) -> Bool {
    let interval = DiskCache.Limits.touchInterval(limits.ageLimitInMilliseconds)
    return UInt64(clamping: now) < lastUse / 1000 + UInt64(interval)
  }

  private func isPlaced(
    _ priority: CachePriority, _ lastUse: UInt64, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    try transaction.value(forKey: DiskCacheTables.orderKey(priority, lastUse), in: tables.order) != nil
  }

  private func write(
    _ value: borrowing Span<UInt8>, _ new: inout DiskCacheRecord, _ entry: NewEntry, hasOldTail: Bool,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let key = entry.key.bytes
    let extra = DiskCacheExtra(entry).encoded()
    new.extraLength = extra.count
    let cut = entry.file == nil ? Self.split(new.valueOffset, value.count) : nil
    new.flags = entry.file != nil ? .file : cut != nil ? .split : []
    var head = new.encoded(more: extra.count + 16)
    head.append(bytes: extra)
    if let file = entry.file {
      head.append(file.name)
      head.append(file.checksum)
    }
    let main = value.extracting(0..<(cut ?? value.count))
    let tail = value.extracting((cut ?? value.count)..<value.count)
    let start = Self.checksum(head.bytes, new.valueOffset, under: key)
    let middle = entry.file == nil ? main.checksum(start) : start
    new.checksum = cut == nil ? middle : tail.checksum(middle)
    head.put(new.checksum, at: DiskCacheRecord.checksumOffset)
    let finished = head.bytes
    try transaction.set(finished.span, followedBy: main, forKey: key.span, in: tables.entries)
    if cut != nil {
      try transaction.set(tail, forKey: entry.key.tail.span, in: tables.entries)
    } else if hasOldTail {
      try transaction.removeValue(forKey: entry.key.tail.span, in: tables.entries)
    }
  }

  /// The checksum of what goes before a value, and of what stands for one that is in a file.
  private static func checksum(_ head: [UInt8], _ valueOffset: Int, under key: [UInt8]) -> UInt64 {
    let start = DiskCacheRecord.checksum(head.span.extracting(0..<valueOffset), under: key.span)
    return head.count > valueOffset ? head.span.extracting(valueOffset..<head.count).checksum(start) : start
  }

  /// Where to cut a value so that it does not take a page for a few bytes; `nil` to leave it whole.
  ///
  /// LMDB gives a record of more than about half a page whole pages of its own, less 16 bytes. A value of 4,096 bytes
  /// would take two. Its last bytes go to a row of their own, which shares a page with other small rows.
  static func split(_ head: Int, _ length: Int, pageSize: Int = 4096) -> Int? {
    let total = head + length + 16
    let rest = total % pageSize
    // A tail of up to 1 KiB in a page of rows costs less than the page. A long value does not feel it.
    guard total > pageSize, rest > 0, rest <= 1024, total < 16 * pageSize else { return nil }
    return length - rest
  }

  private func addRows(
    for new: DiskCacheRecord, _ key: [UInt8], _ entry: NewEntry, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    if new.expiresAt != 0 {
      try transaction.set(key.span, forKey: DiskCacheTables.expiryKey(new).span, in: tables.expiry)
    }
    for tag in entry.options.tags {
      let row = DiskCacheTables.tagKey(Array(tag.utf8), new.version)
      try transaction.set(key.span, forKey: row.span, in: tables.tags)
    }
    if let file = entry.file {
      try transaction.set(key.span, forKey: file.name.bigEndianBytes.span, in: tables.files)
    }
  }
}
