/// What has happened in a cache since this object was made.
public struct CacheStatistics: Sendable, Hashable {
  /// What the memory half was asked for. A value that it had, but that is no longer the one on disk, is a hit there too.
  public var memory = MemoryCacheStatistics()
  /// What the disk half did, for everybody in this process who has it open.
  public var disk = DiskCacheStatistics()
  /// Values that were loaded because there was none, or no fresh one.
  public var loads = 0
  /// Loads that threw, or were cancelled.
  public var failedLoads = 0
  /// How long all loads took together, also those that failed.
  public var loadTime = Duration.zero
  /// Calls that waited for a load that another one had begun.
  public var sharedLoads = 0
  /// Values that were given out although they were not fresh: while a new one was loaded, or in its place.
  public var staleHits = 0
  /// Loaded values that were not stored, since their key was set or removed meanwhile, or because of an error.
  public var unstoredLoads = 0
}

extension Cache {
  /// What has happened so far.
  public var statistics: CacheStatistics {
    var statistics = counts.update { $0 }
    statistics.memory = memoryCache.statistics
    statistics.disk = diskCache.statistics
    return statistics
  }
}
