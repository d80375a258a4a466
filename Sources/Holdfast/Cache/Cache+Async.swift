import LMDB

// What the synchronous forms do, without blocking a thread that tasks share. Each is done when it returns.

extension Cache {
  /// Stores several values in one commit, on the cache's writer thread: all of them, or none if it throws.
  ///
  /// - Parameters:
  ///   - objects: Keys and values; of two with the same key the later one counts.
  ///   - options: Expiry, cost, tags and the like, for each of them.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  public func setObjects(
    _ objects: [(key: String, object: Value)], options: CacheEntryOptions = CacheEntryOptions()
  ) async throws {
    let values = try objects.map { (key: $0.key, value: try codec.encode($0.object)) }
    for (key, _) in values { invalidateFlight(key) }
    try await diskCache.setValues(values, codec: codec.id, options: options)
  }

  /// Removes the values of several keys in one commit, on the cache's writer thread.
  ///
  /// - Parameter keys: Any texts.
  /// - Returns: How many there were.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func removeObjects(forKeys keys: [String]) async throws -> Int {
    for key in keys { invalidateFlight(key) }
    let count = try await diskCache.removeObjects(forKeys: keys)
    for key in keys { memoryCache.removeObject(forKey: CacheKey(key)) }
    return count
  }

  /// Removes all values whose keys start with some text in one commit, on the cache's writer thread.
  ///
  /// - Parameter prefix: The start, compared by bytes.
  /// - Returns: How many there were.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func removeObjects(withPrefix prefix: String) async throws -> Int {
    invalidateFlights { $0.text.utf8.starts(with: prefix.utf8) }
    let count = try await diskCache.removeObjects(withPrefix: prefix)
    memoryCache.removeObjects { $0.text.utf8.starts(with: prefix.utf8) }
    return count
  }

  /// Removes all values that carry a tag in one commit, on the cache's writer thread.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many there were.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func removeObjects(taggedWith tag: String) async throws -> Int {
    invalidateFlights { _ in true }
    return try await diskCache.removeObjects(taggedWith: tag)
  }

  /// Stores a value under a key if there is none yet, on the cache's writer thread.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it was stored.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func addObject(
    _ object: Value, forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) async throws -> CacheStoreResult {
    let bytes = try codec.encode(object)
    let written = try await diskCache.setValue(
      bytes, forKey: key, codec: codec.id, options: options, expecting: .nothing)
    return written.result == .conflict ? .conflict : finish(object, key, written)
  }

  /// Changes the value of a key, on another thread: no other change of it, in whatever process, comes in between.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  ///   - body: Gets the value, `nil` if there is none, and changes it; `nil` afterwards removes the entry.
  /// - Returns: Whether the new value is there.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func updateObject(
    forKey key: String, options: CacheEntryOptions = CacheEntryOptions(),
    _ body: @escaping @Sendable (inout Value?) throws -> Void
  ) async throws -> CacheStoreResult {
    try await Background.run { [self] in try updateObject(forKey: key, options: options, body) }
  }

  /// Removes the value of a key and returns it, on another thread.
  ///
  /// - Parameter key: Any text.
  /// - Returns: What was there.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func takeObject(forKey key: String) async throws -> Value? {
    try await Background.run { [self] in try takeObject(forKey: key) }
  }
}
