import LMDB

extension DiskCache {
  /// A page of the keys of entries that have not expired, in the order of their bytes.
  ///
  /// Each page is of one snapshot, and holds it only while it is read: to go through a large cache pins nothing. What is
  /// stored or removed between two pages is in the later one or not. Costs a step an entry, also for those that are left
  /// out.
  ///
  /// ```swift
  /// let cache = try DiskCache.open(at: "/var/lib/app/cache")
  /// var page = try cache.keys(withPrefix: "user:")
  /// while let last = page.last {
  ///   print(page.count)
  ///   page = try cache.keys(withPrefix: "user:", after: last)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - prefix: What the keys start with, compared by bytes; an empty one is every key.
  ///   - key: The last key of the page before.
  ///   - limit: How many at most.
  /// - Returns: The keys; none if there are no more.
  /// - Throws: As ``value(forKey:)``.
  public func keys(withPrefix prefix: String = "", after key: String? = nil, limit: Int = 1000) throws -> [String] {
    let start = Array(prefix.utf8)
    var range = KeyRange.prefix(Array(start.prefix(DiskCacheKey.plainLimit)))
    if let key { range.lower = .excluded(try DiskCacheKey(key).bytes) }
    let now = system.time.now()
    var keys: [String] = []
    try environment.read { transaction in
      var cursor = try transaction.cursor(in: tables.entries, over: range)
      while keys.count < limit, try cursor.next() {
        if DiskCacheKey.isTail(cursor.key) { continue }
        guard let record = DiskCacheRecord(cursor.value), try !isOver(record, at: now, in: transaction) else {
          continue
        }
        let extra = try? DiskCacheExtra(record, in: cursor.value)
        let found = DiskCacheKey(stored: [UInt8](copying: cursor.key), full: extra?.fullKey ?? [])
        if found.textBytes.starts(with: start) { keys.append(found.text) }
      }
    }
    return keys
  }

  /// An order of entries, for ``firstKeys(inOrderOf:limit:)``.
  public enum KeyOrder: Sendable, Hashable {
    /// As they would have to leave: the lowest priority first, and within it what was not used for longest. Without
    /// pinned entries, and without the reads that no write has brought into the order yet.
    case eviction
    /// Those first whose time is over first; without those that never expire.
    case expiry
    /// The longest values first. Costs a step for each entry of the cache, the others only for those that are returned.
    case length
  }

  /// The keys that come first in some order, from one snapshot; of entries that have not expired.
  ///
  /// - Parameters:
  ///   - order: Which order.
  ///   - limit: How many at most.
  /// - Returns: The keys in that order.
  /// - Throws: As ``value(forKey:)``.
  public func firstKeys(inOrderOf order: KeyOrder, limit: Int) throws -> [String] {
    let now = system.time.now()
    guard limit > 0 else { return [] }
    return try environment.read { transaction in
      switch order {
      case .eviction: try keys(namedBy: tables.order, DiskCacheTables.evictable, limit, now, in: transaction)
      case .expiry: try keys(namedBy: tables.expiry, .all, limit, now, in: transaction)
      case .length: try longest(limit, now, in: transaction)
      }
    }
  }

  /// The keys that the rows of an index name.
  private func keys(
    namedBy index: Database, _ range: KeyRange, _ limit: Int, _ now: Int64, in transaction: borrowing ReadTransaction
  ) throws -> [String] {
    var keys: [String] = []
    var cursor = try transaction.cursor(in: index, over: range)
    while keys.count < limit, try cursor.next() {
      guard let bytes = try transaction.value(forKey: cursor.value, in: tables.entries),
        let record = DiskCacheRecord(bytes), try !isOver(record, at: now, in: transaction)
      else { continue }
      keys.append(text(of: cursor.value, record, bytes))
    }
    return keys
  }

  private func longest(_ limit: Int, _ now: Int64, in transaction: borrowing ReadTransaction) throws -> [String] {
    var found: [(length: Int, key: String)] = []
    // Cut back now and then, so that it holds a few times the limit and not everything.
    func cut() {
      found.sort { $0.length > $1.length }
      found.removeLast(max(0, found.count - limit))
    }
    var cursor = try transaction.cursor(in: tables.entries)
    while try cursor.next() {
      if DiskCacheKey.isTail(cursor.key) { continue }
      guard let record = DiskCacheRecord(cursor.value), try !isOver(record, at: now, in: transaction) else { continue }
      found.append((record.length, text(of: cursor.key, record, cursor.value)))
      if found.count >= max(1024, limit) && found.count / 2 >= limit { cut() }
    }
    cut()
    return found.map(\.key)
  }

  private func text(of tree: Span<UInt8>, _ record: DiskCacheRecord, _ bytes: Span<UInt8>) -> String {
    let extra = try? DiskCacheExtra(record, in: bytes)
    return DiskCacheKey(stored: [UInt8](copying: tree), full: extra?.fullKey ?? []).text
  }
}
