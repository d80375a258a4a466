extension Cache {
  /// Changes the value of a key: no other change of it, in whatever process, comes in between.
  ///
  /// `body` runs outside every lock, and again if somebody else was faster. An entry that another codec wrote, or that
  /// cannot be decoded, counts as missing, and its place is taken.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like of the new value.
  ///   - body: Gets the value, `nil` if there is none, and changes it; `nil` afterwards removes the entry.
  /// - Returns: Whether the new value is there.
  /// - Throws: What `body` or the codec throws, and then nothing has changed; otherwise as
  ///   `setObject(_:forKey:options:)`.
  @discardableResult
  public func updateObject(
    forKey key: String, options: CacheEntryOptions = CacheEntryOptions(), _ body: (inout Value?) throws -> Void
  ) throws -> CacheStoreResult {
    let codec = codec
    invalidateFlight(key)
    let update = try diskCache.update(
      key, codec.id, options,
      decode: { (id, bytes) -> Value? in try? codec.value(of: bytes, storedAs: id) },
      encode: { try codec.encode($0) }, body)
    if let value = update.value, let written = update.written { return finish(value, key, written) }
    memoryCache.removeObject(forKey: CacheKey(key))
    return .stored
  }

  /// Removes the value of a key and returns it: of several who take, in whatever process, one gets it.
  ///
  /// - Parameter key: Any text.
  /// - Returns: What was there; `nil` if there was nothing, or nothing that can be decoded.
  /// - Throws: As `setObject(_:forKey:options:)`.
  @discardableResult
  public func takeObject(forKey key: String) throws -> Value? {
    var taken: Value?
    try updateObject(forKey: key) { value in
      taken = value
      value = nil
    }
    return taken
  }

  /// Stores a value under a key if there is none yet.
  ///
  /// - Parameters:
  ///   - object: The value.
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it was stored; ``CacheStoreResult/conflict`` if an entry is there, which stays.
  /// - Throws: As `setObject(_:forKey:options:)`.
  @discardableResult
  public func addObject(
    _ object: Value, forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) throws -> CacheStoreResult {
    let bytes = try codec.encode(object)
    let written = try diskCache.setValue(
      bytes, forKey: key, codec: codec.id, options: options, expecting: .nothing)
    // A load that is under way stores only where there is nothing.
    if written.result == .conflict { return .conflict }
    return finish(object, key, written)
  }
}
