extension MemoryCache {
  /// The keys at some moment of the call, in no order; those of entries that have expired may be among them.
  public var allKeys: [Key] { shards.flatMap { shard in shard.update { $0.entries.compactMap(\.key) } } }

  /// Removes the entries of keys for which `isIncluded` says yes. It runs without a lock; a key that comes meanwhile may
  /// stay. Takes time for all entries.
  ///
  /// - Returns: How many were removed.
  @discardableResult
  public func removeObjects(where isIncluded: (Key) throws -> Bool) rethrows -> Int {
    var count = 0
    for key in allKeys where try isIncluded(key) && removeObject(forKey: key) { count += 1 }
    return count
  }

  /// What has happened so far.
  public var statistics: MemoryCacheStatistics {
    var sum = ledger.update { ledger in
      MemoryCacheStatistics(
        insertions: ledger.insertions, evictions: ledger.evictions, expirations: ledger.expirations,
        rejections: ledger.rejections)
    }
    for shard in shards {
      let (hits, misses) = shard.update { ($0.hits, $0.misses) }
      sum.hits += hits
      sum.misses += misses
    }
    return sum
  }
}

/// What has happened in a memory cache since it was made.
public struct MemoryCacheStatistics: Sendable, Hashable {
  /// Look-ups that have found a value.
  public var hits = 0
  /// Look-ups that have not.
  public var misses = 0
  /// Sets of a key that had no value.
  public var insertions = 0
  /// Entries that had to leave for want of room, or in a trim.
  public var evictions = 0
  /// Entries that were removed because of their age.
  public var expirations = 0
  /// Sets of entries that cost too much.
  public var rejections = 0
}
