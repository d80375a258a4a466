import LMDB

extension Cache {
  /// Reads and changes several values as one: nobody, in whatever process, sees a part of the changes, and no other
  /// change of what was read comes in between.
  ///
  /// As `DiskCache.transaction(_:)`, whose values are coded by this cache: `body` runs outside every lock, and again if
  /// somebody else has changed what it read. It reads from disk; a value is decoded each time.
  ///
  /// - Parameter body: Reads and changes; lets the errors of its reads through.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` or the codec throws, or `invalidValue` if the limits do not admit one of the values; then
  ///   nothing has changed. Otherwise as `setObject(_:forKey:options:)`.
  public func transaction<R>(_ body: (inout Transaction) throws -> R) throws -> R {
    var changed: [String] = []
    let result = try diskCache.transaction { disk in
      var transaction = Transaction(disk: disk, codec: codec)
      defer { disk = transaction.disk }
      let result = try body(&transaction)
      changed = transaction.disk.changedKeys
      for key in changed { invalidateFlight(key) }
      return result
    }
    for key in changed { memoryCache.removeObject(forKey: CacheKey(key)) }
    return result
  }

  /// As the synchronous form, on another thread.
  ///
  /// - Parameter body: Reads and changes; lets the errors of its reads through.
  /// - Returns: What `body` returns.
  /// - Throws: As the synchronous form.
  public func transaction<R: Sendable>(
    _ body: @escaping @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    try await Background.run { [self] in try transaction(body) }
  }

  /// What a transaction has read, and is going to change.
  public struct Transaction {
    fileprivate var disk: DiskCache.Transaction
    fileprivate let codec: any CacheCodec<Value>

    /// The value under a key, as it is after the changes so far.
    ///
    /// - Parameter key: Any text.
    /// - Returns: The value; `nil` if there is none, or it cannot be decoded.
    /// - Throws: As ``Cache/object(forKey:)``, and if somebody has changed what was read before: then `body` is to end,
    ///   and runs again.
    public mutating func object(forKey key: String) throws -> Value? { try disk.object(forKey: key, as: codec) }

    /// Has a value stored under a key, in place of what is there; `nil` removes it.
    ///
    /// - Parameters:
    ///   - object: The value.
    ///   - key: Any text.
    ///   - options: Expiry, cost, tags and the like.
    /// - Throws: What the codec throws; `invalidKey` or `invalidValue` for what cannot be stored, `diskFull` or `io` from
    ///   the file of a large one.
    public mutating func setObject(
      _ object: Value?, forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
    ) throws {
      try disk.setObject(object, forKey: key, as: codec, options: options)
    }

    /// Has the value of a key removed.
    ///
    /// - Parameter key: Any text.
    /// - Throws: `invalidKey` for one that is too long.
    public mutating func removeObject(forKey key: String) throws { try disk.removeObject(forKey: key) }
  }
}
