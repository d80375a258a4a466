import LMDB

extension DiskCache {
  /// Stores bytes under a key if there is no entry yet.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it was stored; ``CacheStoreResult/conflict`` if an entry is there, which stays.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func addValue(
    _ value: [UInt8], forKey key: String, options: CacheEntryOptions = CacheEntryOptions()
  ) throws -> CacheStoreResult {
    try setValue(value, forKey: key, codec: .bytes, options: options, expecting: .nothing).result
  }

  /// Stores bytes under a key if its entry is still the one that somebody has seen.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - key: Any text.
  ///   - version: The ``EntryInfo/version`` of that entry.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: Whether it was stored; ``CacheStoreResult/conflict`` if there is another entry now, or none.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func replaceValue(
    _ value: [UInt8], forKey key: String, ifVersion version: UInt64, options: CacheEntryOptions = CacheEntryOptions()
  ) throws -> CacheStoreResult {
    try setValue(value, forKey: key, codec: .bytes, options: options, expecting: .version(version)).result
  }

  /// Changes the bytes of a key: no other change of it, in whatever process, comes in between.
  ///
  /// `body` runs outside every lock, and again if somebody else was faster.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - options: Expiry, cost, tags and the like of the new value.
  ///   - body: Gets the bytes, `nil` if there is no entry, and changes them; `nil` afterwards removes the entry.
  /// - Returns: Whether the new value is there.
  /// - Throws: What `body` throws, and then nothing has changed; otherwise as
  ///   `setValue(_:forKey:options:)`.
  @discardableResult
  public func updateValue(
    forKey key: String, options: CacheEntryOptions = CacheEntryOptions(), _ body: (inout [UInt8]?) throws -> Void
  ) throws -> CacheStoreResult {
    let update = try update(key, .bytes, options, decode: { _, bytes in bytes }, encode: { $0 }, body)
    return update.written?.result ?? .stored
  }

  /// Changes the value of a key, decoded: no other change of it, in whatever process, comes in between.
  ///
  /// As `updateValue(forKey:options:_:)`; an entry that another codec wrote, or that cannot be decoded, counts as
  /// missing, and its place is taken.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - codec: How it is stored.
  ///   - options: Expiry, cost, tags and the like of the new value.
  ///   - body: Gets the value, `nil` if there is none, and changes it; `nil` afterwards removes the entry.
  /// - Returns: Whether the new value is there.
  /// - Throws: What `body` or the codec throws, and then nothing has changed; otherwise as
  ///   `setValue(_:forKey:options:)`.
  @discardableResult
  public func updateObject<C: CacheCodec>(
    forKey key: String, as codec: C, options: CacheEntryOptions = CacheEntryOptions(),
    _ body: (inout C.Value?) throws -> Void
  ) throws -> CacheStoreResult {
    let update = try update(
      key, codec.id, options, decode: { id, bytes in try? codec.value(of: bytes, storedAs: id) },
      encode: codec.encode, body)
    return update.written?.result ?? .stored
  }

  /// Removes the entry of a key and returns its bytes: of several who take, in whatever process, one gets them.
  ///
  /// - Parameter key: Any text.
  /// - Returns: What was there; `nil` if there was nothing.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func takeValue(forKey key: String) throws -> [UInt8]? {
    var taken: [UInt8]?
    _ = try update(key, .bytes, CacheEntryOptions(), decode: { _, bytes in bytes }, encode: { $0 }) { value in
      taken = value
      value = nil
    }
    return taken
  }

  /// Adds to a number, which is zero if there is none; one commit, and exact whoever else does the same.
  ///
  /// The number is what ``IntegerCodec`` stores. An entry that is there keeps its time of expiry, so that it counts what
  /// happens in a span of time; a new one gets it from `options`.
  ///
  /// - Parameters:
  ///   - key: Any text.
  ///   - step: What to add; a negative number subtracts.
  ///   - options: Expiry, cost, tags and the like.
  /// - Returns: The sum.
  /// - Throws: `invalidValue` if the sum is out of range, what is there is no such number, or the limits do not admit
  ///   it; then nothing has changed. Otherwise as `setValue(_:forKey:options:)`.
  @discardableResult
  public func increment(
    forKey key: String, by step: Int64 = 1, options: CacheEntryOptions = CacheEntryOptions()
  ) throws -> Int64 {
    let codec = IntegerCodec()
    var pending = try pendingEntry([], key, codec.id, options)
    try prepareToWrite()
    return try write { edit, transaction in
      let stored = try edit.number(pending.entry.key, codec, in: transaction.reader)
      let (sum, overflow) = (stored?.number ?? 0).addingReportingOverflow(step)
      if overflow {
        throw StoreError(.invalidValue, "The number of the cache key \(key) would leave its range; set it anew.")
      }
      if let end = stored?.expiresAt {
        pending.entry.options.expiration = end == 0 ? .never : .after(.milliseconds(end - edit.now))
      }
      pending.value = codec.encode(sum)
      guard try pending.set(&edit, &transaction).result == .stored else {
        throw StoreError(.invalidValue, "The limits of the cache admit no number under \(key); raise them.")
      }
      return sum
    }
  }

  /// Gives an entry another time of expiry, and makes it the most recently used; costs as much as storing it.
  ///
  /// - Parameters:
  ///   - expiration: When it expires from now on.
  ///   - key: Any text.
  /// - Returns: Whether there is such an entry.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func setExpiration(_ expiration: CacheEntryOptions.Expiration, forKey key: String) throws -> Bool {
    try storeAnew(key) { $0.expiration = expiration }
  }

  /// Puts other bytes beside the value of an entry, which keeps its time of expiry; costs as much as storing it.
  ///
  /// - Parameters:
  ///   - extendedData: At most 64 KiB; ``EntryInfo/extendedData`` gives them.
  ///   - key: Any text.
  /// - Returns: Whether there is such an entry.
  /// - Throws: As `setValue(_:forKey:options:)`.
  @discardableResult
  public func setExtendedData(_ extendedData: [UInt8], forKey key: String) throws -> Bool {
    try storeAnew(key) { $0.extendedData = extendedData }
  }

  /// Stores the value that an entry has with other options; of the version that was read.
  private func storeAnew(_ key: String, _ change: (inout CacheEntryOptions) -> Void) throws -> Bool {
    while true {
      guard let info = try info(forKey: key) else { return false }
      let now = system.time.now()
      var options = CacheEntryOptions(
        expiration: info.expiresAt.map { .after(.milliseconds($0 - now)) } ?? .never, cost: info.cost,
        tags: info.tags, priority: info.priority, extendedData: info.extendedData)
      change(&options)
      var bytes: [UInt8]?
      try read(key) { record, value, tail in
        guard record.version == info.version else { return }
        bytes = Array(joining: value, tail)
        options.loadTime = .milliseconds(Int64(record.loadTime))
        if record.freshUntil != 0 { options.freshFor = .milliseconds(record.freshUntil - now) }
      }
      guard let bytes else {
        // Damaged, or replaced between the two looks.
        if try version(forKey: key) == info.version { return false }
        continue
      }
      let result = try setValue(
        bytes, forKey: key, codec: info.codec, options: options, expecting: .version(info.version)
      ).result
      if result != .conflict { return result == .stored }
    }
  }

  /// Reads, changes and stores a value until nobody else has come in between.
  ///
  /// - Returns: The new value, and what was written; `nil` if the entry was removed.
  func update<T>(
    _ key: String, _ codec: CacheCodecID, _ options: CacheEntryOptions,
    decode: (CacheCodecID, [UInt8]) throws -> T?, encode: (T) throws -> [UInt8], _ body: (inout T?) throws -> Void
  ) throws -> (value: T?, written: Written?) {
    while true {
      var found: (codec: CacheCodecID, bytes: [UInt8])?
      var expected = DiskCacheEdit.NewEntry.Expected.nothing
      try read(key) { record, bytes, tail in
        found = (record.codec, Array(joining: bytes, tail))
        expected = .version(record.version)
      }
      var value = try found.flatMap { try decode($0.codec, $0.bytes) }
      try body(&value)
      if let value {
        let written = try setValue(
          try encode(value), forKey: key, codec: codec, options: options, expecting: expected)
        if written.result != .conflict { return (value, written) }
      } else if try expected == .nothing || removeObject(forKey: key, expecting: expected) {
        return (nil, nil)
      }
    }
  }

  /// Removes an entry if it is the expected one.
  ///
  /// - Returns: Whether it was.
  private func removeObject(forKey key: String, expecting expected: DiskCacheEdit.NewEntry.Expected) throws -> Bool {
    let key = try DiskCacheKey(key)
    return try write { edit, transaction in
      let found = try edit.record(key.bytes, in: transaction.reader).record
      guard try edit.isExpected(found, expected, in: transaction.reader) else { return false }
      if found != nil { try edit.remove(key.bytes, as: .removed, in: &transaction) }
      return true
    }
  }
}

extension DiskCacheEdit {
  /// The number under a key, and when it expires.
  func number(
    _ key: DiskCacheKey, _ codec: IntegerCodec, in transaction: borrowing ReadTransaction
  ) throws -> (number: Int64, expiresAt: Int64)? {
    let tree = key.bytes
    guard let bytes = try transaction.value(forKey: tree.span, in: tables.entries),
      let record = DiskCacheRecord(bytes), try isExpected(record, .version(record.version), in: transaction)
    else { return nil }
    guard record.codec == codec.id, record.flags == [], record.isIntact(bytes, tail: Span(), under: tree.span) else {
      throw StoreError(.invalidValue, "What is under the cache key \(key.text) is no number; remove it first.")
    }
    let value = [UInt8](copying: bytes.extracting(record.valueOffset..<bytes.count))
    return (try codec.decode(value), record.expiresAt)
  }
}
