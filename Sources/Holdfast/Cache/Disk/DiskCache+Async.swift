import LMDB

// What the synchronous forms do, without blocking a thread that tasks share. Each is done when it returns.

extension DiskCache {
  /// Stores several values in one commit, on the cache's writer thread: all of them, or none if it throws.
  ///
  /// - Parameters:
  ///   - values: Keys and bytes; of two with the same key the later one counts.
  ///   - options: Expiry, cost, tags and the like, for each of them.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  public func setValues(
    _ values: [(key: String, value: [UInt8])], options: CacheEntryOptions = CacheEntryOptions()
  ) async throws {
    try await setValues(values, codec: .bytes, options: options)
  }

  /// Stores several values that have been encoded.
  func setValues(
    _ values: [(key: String, value: [UInt8])], codec: CacheCodecID, options: CacheEntryOptions
  ) async throws {
    var pending: [PendingEntry] = []
    for (key, value) in values {
      pending.append(try await pendingEntryInBackground(value, key, codec, options, expecting: .any))
    }
    try await write { [pending] edit, transaction in
      for entry in pending { _ = try entry.set(&edit, &transaction) }
    }
  }

  /// Removes the entries of several keys in one commit, on the cache's writer thread.
  ///
  /// - Parameter keys: Any texts.
  /// - Returns: How many there were.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func removeObjects(forKeys keys: [String]) async throws -> Int {
    let keys = try keys.map { try DiskCacheKey($0).bytes }
    return try await write { edit, transaction in try edit.removeAll(keys, in: &transaction) }
  }

  /// Removes all entries whose keys start with some text in one commit, on the cache's writer thread.
  ///
  /// - Parameter prefix: The start, compared by bytes; an empty one is every key.
  /// - Returns: How many there were.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func removeObjects(withPrefix prefix: String) async throws -> Int {
    try await write { edit, transaction in try edit.removeAll(prefix: Array(prefix.utf8), in: &transaction) }
  }

  /// Removes all entries that carry a tag in one commit, on the cache's writer thread.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many there were.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func removeObjects(taggedWith tag: String) async throws -> Int {
    try await write { edit, transaction in try edit.removeAll(tag: Array(tag.utf8), in: &transaction) }
  }

  /// Stores bytes under a key if there is no entry yet.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it was stored.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func addValue(
    _ value: [UInt8], forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) async throws -> CacheStoreResult {
    try await setValue(value, forKey: key, codec: .bytes, options: options, expecting: .nothing).result
  }

  /// Stores bytes under a key if its entry is still the one that somebody has seen.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - key: Any text.
  ///   - version: The ``EntryInfo/version`` of that entry.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it was stored.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func replaceValue(
    _ value: [UInt8], forKey key: String, ifVersion version: UInt64, options: CacheEntryOptions = CacheEntryOptions()
  ) async throws -> CacheStoreResult {
    try await setValue(value, forKey: key, codec: .bytes, options: options, expecting: .version(version)).result
  }

  /// Changes the bytes of a key, on another thread: no other change of it, in whatever process, comes in between.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  ///   - body: Gets the bytes, `nil` if there is no entry, and changes them; `nil` afterwards removes the entry.
  /// - Returns: Whether the new value is there.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func updateValue(
    forKey key: String, options: CacheEntryOptions = CacheEntryOptions(),
    _ body: @escaping @Sendable (inout [UInt8]?) throws -> Void
  ) async throws -> CacheStoreResult {
    try await Background.run { [self] in try updateValue(forKey: key, options: options, body) }
  }

  /// Removes the entry of a key and returns its bytes, on another thread.
  ///
  /// - Parameter key: Any text.
  /// - Returns: What was there; `nil` if there was nothing.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func takeValue(forKey key: String) async throws -> [UInt8]? {
    try await Background.run { [self] in try takeValue(forKey: key) }
  }

  /// Adds to a number, which is zero if there is none, on another thread.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - step: What to add; a negative number subtracts.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: The sum.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func increment(
    forKey key: String, by step: Int64 = 1, options: CacheEntryOptions = CacheEntryOptions()
  ) async throws -> Int64 {
    try await Background.run { [self] in try increment(forKey: key, by: step, options: options) }
  }

  /// Gives an entry another time of expiry, on another thread.
  ///
  /// - Parameters:
  ///   - expiration: When it expires from now on.
  ///   - key: Any text.
  /// - Returns: Whether there is such an entry.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func setExpiration(_ expiration: CacheEntryOptions.Expiration, forKey key: String) async throws -> Bool {
    try await Background.run { [self] in try setExpiration(expiration, forKey: key) }
  }

  /// Puts other bytes beside the value of an entry, on another thread.
  ///
  /// - Parameters:
  ///   - extendedData: At most 64 KiB.
  ///   - key: Any text.
  /// - Returns: Whether there is such an entry.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func setExtendedData(_ extendedData: [UInt8], forKey key: String) async throws -> Bool {
    try await Background.run { [self] in try setExtendedData(extendedData, forKey: key) }
  }

  /// Removes the least recently used entries until there are at most `count`, on another thread.
  ///
  /// - Parameter count: Zero removes all that may leave.
  /// - Returns: How many entries were removed.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func trim(toCount count: Int) async throws -> Int {
    try await Background.run { [self] in try trim(toCount: count) }
  }

  /// Removes the least recently used entries until they cost at most `cost` together, on another thread.
  ///
  /// - Parameter cost: Zero removes all that may leave, except entries of cost zero.
  /// - Returns: How many entries were removed.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func trim(toCost cost: Int) async throws -> Int {
    try await Background.run { [self] in try trim(toCost: cost) }
  }

  /// Removes what has not been used for a while, on another thread.
  ///
  /// - Parameter age: How long an entry may have gone unused.
  /// - Returns: How many entries were removed.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func trim(toAge age: Duration) async throws -> Int {
    try await Background.run { [self] in try trim(toAge: age) }
  }

  /// Applies the limits now, on another thread.
  ///
  /// - Returns: How many entries were removed.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func trim() async throws -> Int {
    try await Background.run { [self] in try trim() }
  }

  /// Removes the entries whose time is over, on another thread.
  ///
  /// - Returns: How many there were.
  /// - Throws: As the synchronous form.
  @discardableResult
  public func purgeExpired() async throws -> Int {
    try await Background.run { [self] in try purgeExpired() }
  }

  /// Rewrites the data file without its free space, on another thread.
  ///
  /// - Throws: As the synchronous form.
  public func compact() async throws {
    try await Background.run { [self] in try compact() }
  }
}
