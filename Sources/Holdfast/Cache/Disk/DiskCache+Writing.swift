import LMDB

extension DiskCache {
  /// Stores bytes under a key, in place of what is there.
  ///
  /// Blocks for other writers and for the commit: about 20 µs with ``Configuration/Durability/unsynced``. When it
  /// returns, every process sees the value, it survives the end of this one, and the limits hold. Bytes beyond
  /// ``Configuration/inlineThreshold`` are written to a file first.
  ///
  /// - Parameters:
  ///   - value: The bytes; none is a value like any other.
  ///   - key: Any text up to 65,535 bytes, compared by its bytes.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it is there.
  /// - Throws: `invalidKey` or `invalidValue` for what cannot be stored; `diskFull`, `mapFull`, `io`, `closed`,
  ///   `poisoned`. Then nothing has changed.
  @discardableResult
  public func setValue(
    _ value: [UInt8], forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) throws -> CacheStoreResult {
    try setValue(value, forKey: key, codec: .bytes, options: options).result
  }

  /// Stores bytes under a key, in place of what is there, on the cache's writer thread.
  ///
  /// As the synchronous form, but the task is suspended instead of blocked, and writes of several tasks share a commit.
  /// It is done when it returns, also if nobody else holds the cache any more. Writes of one task happen in its order.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it is there.
  /// - Throws: As the synchronous form; `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  public func setValue(
    _ value: [UInt8], forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) async throws -> CacheStoreResult {
    try await setValue(value, forKey: key, codec: .bytes, options: options).result
  }

  /// Stores several values in one commit: all of them, or none if it throws.
  ///
  /// - Parameters:
  ///   - values: Keys and bytes; of two with the same key the later one counts. The file of a large one stays open until
  ///     the commit.
  ///   - options: Expiry, cost, tags and the like, for each of them.
  /// - Throws: As `setValue(_:forKey:options:)`.
  public func setValues(
    _ values: [(key: String, value: [UInt8])], options: CacheEntryOptions = CacheEntryOptions()
  ) throws {
    try setValues(values, codec: .bytes, options: options)
  }

  /// Stores several values that have been encoded.
  func setValues(_ values: [(key: String, value: [UInt8])], codec: CacheCodecID, options: CacheEntryOptions) throws {
    try prepareToWrite()
    let pending = try values.map { try pendingEntry($0.value, $0.key, codec, options) }
    try write { edit, transaction in
      for entry in pending { _ = try entry.set(&edit, &transaction) }
    }
  }

  /// Removes the entry of a key.
  ///
  /// - Parameter key: Any text.
  /// - Returns: Whether there was one.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func removeObject(forKey key: String) throws -> Bool {
    let key = try DiskCacheKey(key)
    return try write { edit, transaction in try edit.remove(key.bytes, as: .removed, in: &transaction) != nil }
  }

  /// Removes the entry of a key on the cache's writer thread.
  ///
  /// - Parameter key: Any text.
  /// - Returns: Whether there was one.
  /// - Throws: As `setValue(_:forKey:options:)`; `CancellationError`.
  @discardableResult
  public func removeObject(forKey key: String) async throws -> Bool {
    let key = try DiskCacheKey(key)
    return try await write { edit, transaction in try edit.remove(key.bytes, as: .removed, in: &transaction) != nil }
  }

  /// Removes the entries of several keys in one commit.
  ///
  /// - Parameter keys: Any texts.
  /// - Returns: How many there were.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func removeObjects(forKeys keys: [String]) throws -> Int {
    let keys = try keys.map { try DiskCacheKey($0).bytes }
    return try write { edit, transaction in try edit.removeAll(keys, in: &transaction) }
  }

  /// Removes all entries whose keys start with some text, in one commit; costs a step for each of them.
  ///
  /// - Parameter prefix: The start, compared by bytes; an empty one is every key.
  /// - Returns: How many there were.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func removeObjects(withPrefix prefix: String) throws -> Int {
    try write { edit, transaction in try edit.removeAll(prefix: Array(prefix.utf8), in: &transaction) }
  }

  /// Removes all entries that carry a tag, in one commit; costs a step for each of them.
  ///
  /// - Parameter tag: The tag.
  /// - Returns: How many there were.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func removeObjects(taggedWith tag: String) throws -> Int {
    try write { edit, transaction in try edit.removeAll(tag: Array(tag.utf8), in: &transaction) }
  }

  /// Removes everything, in one commit: when it returns, no process sees an entry that was there before.
  ///
  /// Costs a step a page, not one an entry. The disk gets the space back in the background, see `compact()`.
  ///
  /// - Throws: As `setValue(_:forKey:options:)`.
  public func removeAllObjects() throws {
    try write { edit, transaction in try edit.removeAll(in: &transaction) }
  }

  /// Removes everything, on the cache's writer thread.
  ///
  /// - Throws: As `setValue(_:forKey:options:)`; `CancellationError`.
  public func removeAllObjects() async throws {
    try await write { edit, transaction in try edit.removeAll(in: &transaction) }
  }

  /// What has been written: whether it is there, under which version, and in which commit.
  struct Written: Sendable {
    var result: CacheStoreResult
    var record: DiskCacheRecord?
    var transactionID: Int
  }

  /// Stores bytes that have been encoded.
  func setValue(
    _ value: [UInt8], forKey key: String, codec: CacheCodecID, options: CacheEntryOptions,
    expecting expected: DiskCacheEdit.NewEntry.Expected = .any
  ) throws -> Written {
    try prepareToWrite()
    let pending = try pendingEntry(value, key, codec, options, expecting: expected)
    return try write { edit, transaction in try pending.set(&edit, &transaction) }
  }

  /// As the synchronous form, on the writer thread. Asked in the transaction, `isObsolete` says whether to leave it.
  func setValue(
    _ value: [UInt8], forKey key: String, codec: CacheCodecID, options: CacheEntryOptions,
    expecting expected: DiskCacheEdit.NewEntry.Expected = .any, unless isObsolete: (@Sendable () -> Bool)? = nil
  ) async throws -> Written {
    let pending = try await pendingEntryInBackground(value, key, codec, options, expecting: expected)
    return try await write { edit, transaction in
      if isObsolete?() == true { return Written(result: .conflict, record: nil, transactionID: transaction.id) }
      return try pending.set(&edit, &transaction)
    }
  }

  /// What is to be stored, its file written if it has one.
  func pendingEntry(
    _ value: [UInt8], _ key: String, _ codec: CacheCodecID, _ options: CacheEntryOptions,
    expecting expected: DiskCacheEdit.NewEntry.Expected = .any
  ) throws(StoreError) -> PendingEntry {
    try options.validate()
    let key = try DiskCacheKey(key)
    var entry = DiskCacheEdit.NewEntry(
      key: key, codec: codec, options: options, standardExpiration: configuration.expiresAfter, expected: expected)
    guard value.count > configuration.inlineThreshold else {
      return PendingEntry(value: value, entry: entry, file: nil)
    }
    let file = try folder.begin()
    try file.write(value.span)
    try file.finish()
    entry.file = file.reference
    return PendingEntry(value: [], entry: entry, file: file)
  }

  /// As ``pendingEntry(_:_:_:_:expecting:)``; a file is written on another thread.
  func pendingEntryInBackground(
    _ value: [UInt8], _ key: String, _ codec: CacheCodecID, _ options: CacheEntryOptions,
    expecting expected: DiskCacheEdit.NewEntry.Expected
  ) async throws -> PendingEntry {
    if value.count <= configuration.inlineThreshold && !state.update({ $0.mustTrim }) {
      return try pendingEntry(value, key, codec, options, expecting: expected)
    }
    return try await Background.run { [self] in
      try prepareToWrite()
      return try pendingEntry(value, key, codec, options, expecting: expected)
    }
  }

  /// A value before its commit.
  struct PendingEntry: Sendable {
    var value: [UInt8]
    var entry: DiskCacheEdit.NewEntry
    let file: DiskCacheStagedFile?

    func set(_ edit: inout DiskCacheEdit, _ transaction: inout WriteTransaction) throws -> Written {
      let bytes = value.span
      let result = try edit.set(bytes, as: entry, in: &transaction)
      if result == .stored, let file { transaction.afterCommit { file.commit() } }
      return Written(
        result: result, record: result == .stored ? edit.written : nil, transactionID: transaction.id)
    }
  }
}

extension CacheEntryOptions {
  /// Throws for what cannot be stored.
  func validate() throws(StoreError) {
    if let cost, cost < 0 {
      throw StoreError(.invalidOption, "A cost of \(cost) is negative; use zero or more.")
    }
    guard tags.count <= 255 else {
      throw StoreError(.invalidOption, "\(tags.count) tags are too many; use at most 255.")
    }
    if let tag = tags.first(where: { !(1...255).contains($0.utf8.count) }) {
      throw StoreError(
        .invalidOption, "The tag \"\(tag.prefix(80))\" has \(tag.utf8.count) bytes; use 1 to 255.")
    }
    guard extendedData.count <= 65_536 else {
      throw StoreError(
        .invalidValue, "Extended data of \(extendedData.count) bytes is too long; use at most 65536 bytes.")
    }
  }
}
