import LMDB

extension Cache {
  /// The value of a key, or else the result of `load`, which is stored.
  ///
  /// However many tasks ask for a key that is not there, `load` runs once at a time for it in this process, and all get
  /// its result. A value that is stale but may be used is given out at once, without waiting for the new one. What `load`
  /// throws is not kept: the next who asks tries again. If the key is set or removed while it is loaded, those who
  /// wait still get the result, but it is not stored. A `load` that asks for its own key, or begins one that does, gets an
  /// error, since it would wait for itself; two that were begun apart and ask for each other's key wait until cancelled.
  ///
  /// A task that is cancelled throws `CancellationError` at once; the load is cancelled when nobody waits any more.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - policy: How long the value is used, and what happens then.
  ///   - load: Makes the value.
  /// - Returns: The value, from the cache or new.
  /// - Throws: What `load` throws; `CancellationError`; `invalidKey` in a load of the same key; as ``object(forKey:)``. That
  ///   a loaded value could not be stored is an event of ``diskCache``, not an error.
  public func object(
    forKey key: String, policy: CacheLoadPolicy = CacheLoadPolicy(), load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let found = try entry(forKey: key)
    guard let found else { return try await loadAndWait(key, policy, nil, load) }
    let step = policy.step(
      freshUntil: found.record.freshUntil, loadTime: found.record.loadTime, now: diskCache.system.time.now(),
      random: diskCache.system.random())
    switch step {
    case .use: return found.value
    case .useAndRefresh:
      _ = flight(key, policy, found.record.version, isRefresh: true, load)
      noteUse(of: found)
      return found.value
    case .load(let mayUse):
      do {
        return try await loadAndWait(key, policy, found.record.version, load)
      } catch let error as CancellationError {
        throw error
      } catch {
        guard mayUse else { throw error }
        noteUse(of: found)
        return found.value
      }
    }
  }

  /// Counts a value that is given out although it may not be fresh any more.
  private func noteUse(of found: CachedObject<Value>) {
    if !found.isFresh(at: diskCache.system.time.now()) { counts.update { $0.staleHits += 1 } }
  }

  private func loadAndWait(
    _ key: String, _ policy: CacheLoadPolicy, _ version: UInt64?, _ load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let (flight, place) = flight(key, policy, version, isRefresh: false, load)
    if CacheLoads.current.contains(where: { $0 === flight }) {
      flight.leave(place)
      throw StoreError(
        .invalidKey,
        "The load of \"\(key.prefix(80))\" asks for its own key, and would wait for itself; make the value without it.")
    }
    return try await flight.wait(place)
  }

  /// The load of a key that is under way, or a new one.
  private func flight(
    _ key: String, _ policy: CacheLoadPolicy, _ version: UInt64?, isRefresh: Bool,
    _ load: @escaping @Sendable () async throws -> Value
  ) -> (CacheFlight<Value>, place: Int) {
    let (flight, place, isNew) = flights.update { flights -> (CacheFlight<Value>, Int, Bool) in
      if let flight = flights[CacheKey(key)], let place = flight.join() { return (flight, place, false) }
      let flight = CacheFlight<Value>(isRefresh: isRefresh)
      flights[CacheKey(key)] = flight
      return (flight, flight.join() ?? 0, true)
    }
    if isNew {
      flight.start(Task { [self] in await run(flight, key, policy, version, load) })
    } else if !isRefresh {
      counts.update { $0.sharedLoads += 1 }
    }
    return (flight, place)
  }

  private func run(
    _ flight: CacheFlight<Value>, _ key: String, _ policy: CacheLoadPolicy, _ version: UInt64?,
    _ load: @Sendable () async throws -> Value
  ) async {
    let begin = diskCache.system.time.now()
    let result: Result<Value, any Error>
    do {
      let loads = CacheLoads.current + [flight]
      let value = try await CacheLoads.$current.withValue(loads) { try await load() }
      let loadTime = countLoad(from: begin)
      var isStored = false
      do {
        isStored = try await store(value, key, policy.entryOptions(loadTime: loadTime), version, of: flight)
      } catch {
        report(error, key)
      }
      if !isStored { counts.update { $0.unstoredLoads += 1 } }
      result = .success(value)
    } catch {
      _ = countLoad(from: begin)
      counts.update { $0.failedLoads += 1 }
      result = .failure(error)
    }
    flights.update { flights in
      if flights[CacheKey(key)] === flight { flights[CacheKey(key)] = nil }
    }
    flight.finish(result)
  }

  /// Counts a load that has ended.
  ///
  /// - Returns: How long it took.
  private func countLoad(from begin: Int64) -> Duration {
    let time = Duration.milliseconds(max(0, diskCache.system.time.now() - begin))
    counts.update { counts in
      counts.loads += 1
      counts.loadTime += time
    }
    return time
  }

  /// Stores what was loaded, if the entry is still the one that was there when the load began.
  ///
  /// - Returns: Whether it is there.
  private func store(
    _ value: Value, _ key: String, _ options: CacheEntryOptions, _ version: UInt64?, of flight: CacheFlight<Value>
  ) async throws -> Bool {
    guard flight.isValid else { return false }
    let bytes = try codec.encode(value)
    let written = try await diskCache.setValue(
      bytes, forKey: key, codec: codec.id, options: options,
      expecting: version.map { .version($0) } ?? .nothing, unless: { !flight.isValid })
    guard written.result == .stored else { return false }
    return finish(value, key, written) == .stored
  }
}
