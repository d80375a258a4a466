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
    while true {
      var value: [UInt8]?
      var expected = DiskCacheEdit.NewEntry.Expected.nothing
      try read(key) { record, bytes in
        value = [UInt8](copying: bytes)
        expected = .version(record.version)
      }
      try body(&value)
      if let value {
        let result = try setValue(value, forKey: key, codec: .bytes, options: options, expecting: expected).result
        if result != .conflict { return result }
      } else if try removeObject(forKey: key, expecting: expected) {
        return .stored
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
      guard edit.isExpected(found, expected) else { return false }
      try edit.remove(key.bytes, in: &transaction)
      return true
    }
  }
}
