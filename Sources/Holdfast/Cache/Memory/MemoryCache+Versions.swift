import Synchronization

// How a value that was read elsewhere, slowly, gets in only if nobody has changed its key meanwhile.

extension MemoryCache {
  /// The state of a key, to be taken before its value is read from elsewhere; `nil` while a change of it goes on.
  ///
  /// ```swift
  /// func load(_ key: String, into cache: MemoryCache<String, [UInt8]>, from disk: DiskCache) throws {
  ///   guard let version = cache.version(forKey: key), let bytes = try disk.value(forKey: key) else { return }
  ///   cache.setObject(bytes, forKey: key, ifVersion: version)
  /// }
  /// ```
  ///
  /// Sets and removals of the key change it, evictions do not. Some keys share theirs, so that it may change without a
  /// change of the key.
  public func version(forKey key: Key) -> MemoryCacheVersion? {
    let hash = Self.hash(of: key)
    return shard(hash).update { shard in
      shard.keepVersions()
      let stripe = shard.stripes[VersionStripe.index(hash)]
      return stripe.pending == 0 ? MemoryCacheVersion(stripe.version) : nil
    }
  }

  /// Stores a value that was read elsewhere, if the key was not set or removed since `version`.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: Its key.
  ///   - version: The state of the key before the value was read.
  ///   - cost: What it counts against ``costLimit``, not negative.
  ///   - lifetime: How long it stays; 0 or less is not at all.
  ///   - idleLimit: How long it stays without being asked for.
  ///   - isPinned: Whether it stays when others have to leave.
  /// - Returns: Whether it is there.
  @discardableResult
  public func setObject(
    _ value: Value, forKey key: Key, ifVersion version: MemoryCacheVersion,
    cost: Int = MemoryBudget.entryCost(Key.self, Value.self), lifetime: Duration? = nil, idleLimit: Duration? = nil,
    isPinned: Bool = false
  ) -> Bool {
    let isTimed = lifetime != nil || idleLimit != nil || isTimed.load(ordering: .acquiring)
    return store(
      value, key, cost: cost, isPinned: isPinned, times: isTimed ? makeTimes(lifetime, idleLimit) : nil,
      version: version)
  }

  /// Begins a change that is made elsewhere first: until it ends, no value of this key is taken from there.
  func beginChange(forKey key: Key) -> MemoryCacheVersion {
    let hash = Self.hash(of: key)
    return shard(hash).update { shard in
      shard.keepVersions()
      let index = VersionStripe.index(hash)
      shard.stripes[index].pending += 1
      shard.stripes[index].version &+= 1
      return MemoryCacheVersion(shard.stripes[index].version)
    }
  }

  /// Ends a change that was made elsewhere. If other changes of the key were under way, nobody here knows which was last
  /// there: then the key has no value here.
  ///
  /// - Parameters:
  ///   - change: What ``beginChange(forKey:)`` has returned.
  ///   - key: The same key.
  ///   - value: What was stored there; `nil` if it was removed, or the change failed.
  ///   - cost: What it counts.
  ///   - times: When it expires.
  ///   - isPinned: Whether it stays when others have to leave.
  func endChange(
    _ change: MemoryCacheVersion, forKey key: Key, storing value: Value?, cost: Int = 0, times: EntryTimes? = nil,
    isPinned: Bool = false
  ) {
    let hash = Self.hash(of: key)
    shard(hash).update { $0.stripes[VersionStripe.index(hash)].pending -= 1 }
    let isStored =
      value.map { store($0, key, cost: cost, isPinned: isPinned, times: times, version: change) } ?? false
    if !isStored { removeObject(forKey: key) }
  }

  /// Begins a change of many keys that is made elsewhere first.
  func beginChangeOfAll() {
    for shard in shards {
      shard.update { shard in
        shard.keepVersions()
        for index in shard.stripes.indices {
          shard.stripes[index].pending += 1
          shard.stripes[index].version &+= 1
        }
      }
    }
  }

  /// Ends a change of many keys that was made elsewhere: none of them has a value here.
  ///
  /// - Parameter isChanged: Whether a key is among them; all are by default.
  func endChangeOfAll(where isChanged: ((Key) -> Bool)? = nil) {
    for shard in shards {
      shard.update { shard in
        for index in shard.stripes.indices {
          shard.stripes[index].pending -= 1
          // A key that has no value here may be among those that were changed.
          shard.stripes[index].version &+= 1
        }
      }
    }
    if let isChanged { removeObjects(where: isChanged) } else { removeAllObjects() }
  }
}
