import LMDB

extension Cache {
  /// Stores a value under a key, in place of what is there; `nil` removes it.
  ///
  /// Both halves change together: when it returns, nobody reads the old value any more. Blocks for the commit, see
  /// `setValue(_:forKey:options:)`.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: Any text up to 65,535 bytes, compared by its bytes.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it is there.
  /// - Throws: What the codec throws, and then nothing has changed; otherwise as
  ///   `setValue(_:forKey:options:)`.
  @discardableResult
  public func setObject(
    _ object: Value?, forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) throws -> CacheStoreResult {
    guard let object else {
      try removeObject(forKey: key)
      return .stored
    }
    let bytes = try codec.encode(object)
    invalidateFlight(key)
    return finish(object, key, try diskCache.setValue(bytes, forKey: key, codec: codec.id, options: options))
  }

  /// Stores a value under a key, in place of what is there, on the cache's writer thread; `nil` removes it.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it is there.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func setObject(
    _ object: Value?, forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) async throws -> CacheStoreResult {
    guard let object else {
      try await removeObject(forKey: key)
      return .stored
    }
    let bytes = try codec.encode(object)
    invalidateFlight(key)
    return finish(object, key, try await diskCache.setValue(bytes, forKey: key, codec: codec.id, options: options))
  }

  /// Removes the value of a key.
  ///
  /// - Parameter key: Any text.
  /// - Returns: Whether there was one.
  /// - Throws: As `setObject(_:forKey:options:)`.
  @discardableResult
  public func removeObject(forKey key: String) throws -> Bool {
    invalidateFlight(key)
    let wasThere = try diskCache.removeObject(forKey: key)
    memoryCache.removeObject(forKey: CacheKey(key))
    return wasThere
  }

  /// Removes the value of a key, on the cache's writer thread.
  ///
  /// - Parameter key: Any text.
  /// - Returns: Whether there was one.
  /// - Throws: As the synchronous form; `CancellationError`.
  @discardableResult
  public func removeObject(forKey key: String) async throws -> Bool {
    invalidateFlight(key)
    let wasThere = try await diskCache.removeObject(forKey: key)
    memoryCache.removeObject(forKey: CacheKey(key))
    return wasThere
  }

  /// The values of several keys, all from one snapshot of the disk half. Those that are in memory are decoded anew.
  ///
  /// - Parameter keys: Any texts.
  /// - Returns: What was found, by key; what cannot be decoded is missing.
  /// - Throws: As ``object(forKey:)``.
  public func objects(forKeys keys: [String]) throws -> [String: Value] {
    try diskCache.objects(forKeys: keys, as: codec)
  }

  /// Stores several values in one commit: all of them, or none if it throws.
  ///
  /// - Parameters:
  ///   - objects: Keys and values; of two with the same key the later one counts.
  ///   - options: Expiry, cost, tags and the like, for each of them.
  /// - Throws: What the codec throws, and then nothing has changed; otherwise as `setObject(_:forKey:options:)`.
  public func setObjects(
    _ objects: [(key: String, object: Value)], options: CacheEntryOptions = CacheEntryOptions()
  ) throws {
    let values = try objects.map { (key: $0.key, value: try codec.encode($0.object)) }
    for (key, _) in values { invalidateFlight(key) }
    try diskCache.setValues(values, codec: codec.id, options: options)
  }

  /// Removes the values of several keys in one commit.
  ///
  /// - Parameter keys: Any texts.
  /// - Returns: How many there were.
  /// - Throws: As `setObject(_:forKey:options:)`.
  @discardableResult
  public func removeObjects(forKeys keys: [String]) throws -> Int {
    for key in keys { invalidateFlight(key) }
    let count = try diskCache.removeObjects(forKeys: keys)
    for key in keys { memoryCache.removeObject(forKey: CacheKey(key)) }
    return count
  }

  /// Removes all values whose keys start with some text, in one commit.
  ///
  /// - Parameter prefix: The start, compared by bytes.
  /// - Returns: How many there were.
  /// - Throws: As `setObject(_:forKey:options:)`.
  @discardableResult
  public func removeObjects(withPrefix prefix: String) throws -> Int {
    invalidateFlights { $0.text.utf8.starts(with: prefix.utf8) }
    let count = try diskCache.removeObjects(withPrefix: prefix)
    memoryCache.removeObjects { $0.text.utf8.starts(with: prefix.utf8) }
    return count
  }

  /// Removes all values that carry a tag, in one commit. Loads that are under way store nothing.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many there were.
  /// - Throws: As `setObject(_:forKey:options:)`.
  @discardableResult
  public func removeObjects(taggedWith tag: String) throws -> Int {
    invalidateFlights { _ in true }
    return try diskCache.removeObjects(taggedWith: tag)
  }

  /// Removes everything, in one commit: when it returns, nobody sees a value that was there before.
  ///
  /// - Throws: As `setObject(_:forKey:options:)`.
  public func removeAllObjects() throws {
    invalidateFlights { _ in true }
    try diskCache.removeAllObjects()
    memoryCache.removeAllObjects()
  }

  /// Removes everything, on the cache's writer thread.
  ///
  /// - Throws: As the synchronous form; `CancellationError`.
  public func removeAllObjects() async throws {
    invalidateFlights { _ in true }
    try await diskCache.removeAllObjects()
    memoryCache.removeAllObjects()
  }

  /// What follows the commit of a value.
  func finish(_ object: Value, _ key: String, _ written: DiskCache.Written) -> CacheStoreResult {
    if let record = written.record {
      remember(CachedObject(object, record, commit: written.transactionID), key)
    } else {
      memoryCache.removeObject(forKey: CacheKey(key))
    }
    return written.result
  }

  /// What was loaded for this key from now on is not what it should be.
  func invalidateFlight(_ key: String) {
    flights.update { $0.removeValue(forKey: CacheKey(key)) }?.invalidate()
  }

  func invalidateFlights(where isConcerned: (CacheKey) -> Bool) {
    let flights = flights.update { flights in
      let concerned = flights.filter { isConcerned($0.key) }
      for key in concerned.keys { flights[key] = nil }
      return concerned
    }
    for flight in flights.values { flight.invalidate() }
  }
}
