import LMDB

extension DiskCache {
  /// The changes of one key that this process makes from now on, also those that the cache makes itself.
  ///
  /// A change comes once its commit has happened, and says that the key has changed, not what is there now: of two
  /// threads that write the same key, the later commit may be told first, so read the value. Writes of other processes
  /// are not told. A stream that is not read loses the oldest of more than 1,024 changes, which
  /// ``DiskCacheStatistics/droppedEvents`` counts. Expiry is told when the entry is removed, which may be after
  /// reads have ceased to return it.
  ///
  /// - Parameter key: Any text, compared by its bytes.
  /// - Returns: A stream of its own for each call; it ends with the cache.
  public func changes(ofKey key: String) -> AsyncStream<CacheChange> {
    changes.stream { $0.key.map { $0.hasSameBytes(as: key) } ?? true }
  }

  /// As ``changes(ofKey:)``, of all keys that start with some text.
  ///
  /// - Parameter prefix: The start, compared by bytes; an empty one is every key.
  /// - Returns: A stream of its own for each call; it ends with the cache.
  public func changes(withPrefix prefix: String = "") -> AsyncStream<CacheChange> {
    changes.stream { $0.key.map { $0.utf8.starts(with: prefix.utf8) } ?? true }
  }

  /// What has happened in this process since it opened the cache.
  public var statistics: DiskCacheStatistics {
    var statistics = counts.update { $0 }
    (statistics.hits, statistics.misses) = (hits.sum, misses.sum)
    statistics.droppedReads = touches.dropped
    return statistics
  }
}

/// What has happened in a disk cache since this process has opened it.
public struct DiskCacheStatistics: Sendable, Hashable {
  /// Reads that have found a value.
  public var hits = 0
  /// Reads that have not.
  public var misses = 0
  /// Values that were stored.
  public var stores = 0
  /// Their bytes.
  public var storedBytes = 0
  /// Writes that were committed, with those of tasks that have shared a commit.
  public var writes = 0
  /// Values that were not stored: they cost too much, or their time was over.
  public var rejections = 0
  /// Entries that had to leave, by the reason.
  public var evictions: [CacheEvent.Cause: Int] = [:]
  /// Entries that were removed because their bytes were not those that were written.
  public var damaged = 0
  /// Reads that the order of use will never hear of, since others took their place before a write came.
  public var droppedReads = 0
  /// Events and changes that nobody has read in time.
  public var droppedEvents = 0

  /// Adds what one write has done.
  mutating func add(_ edit: DiskCacheStatistics) {
    stores += edit.stores
    storedBytes += edit.storedBytes
    writes += edit.writes
    rejections += edit.rejections
    if !edit.evictions.isEmpty { evictions.merge(edit.evictions, uniquingKeysWith: +) }
    damaged += edit.damaged
    droppedEvents += edit.droppedEvents
  }
}
