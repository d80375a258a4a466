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
        guard let record = DiskCacheRecord(cursor.value), record.expiresAt == 0 || record.expiresAt > now else {
          continue
        }
        let extra = try? DiskCacheExtra(record, in: cursor.value)
        let found = DiskCacheKey(stored: [UInt8](copying: cursor.key), full: extra?.fullKey ?? [])
        if found.textBytes.starts(with: start) { keys.append(found.text) }
      }
    }
    return keys
  }
}
