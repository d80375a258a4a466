// The same calls with a `String` for a key: its UTF-8 bytes, without a copy of a native string.

extension ReadTransaction {
  /// The value stored under the UTF-8 bytes of `key`, or `nil`.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes of UTF-8.
  ///   - database: A database of the same environment.
  /// - Returns: The bytes in the mapped file, valid until the transaction ends.
  /// - Throws: As ``value(forKey:in:)-(Span<UInt8>,_)``.
  @_lifetime(borrow self)
  public borrowing func value(forKey key: String, in database: Database) throws(StoreError) -> Span<UInt8>? {
    guard let found = unsafe try get(raw, owner, database, text: key) else { return nil }
    let span = unsafe Span(_unsafeElements: found)
    return unsafe _overrideLifetime(span, borrowing: self)
  }
}

extension WriteTransaction {
  /// The value stored under the UTF-8 bytes of `key`, or `nil`; valid until the next change.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes of UTF-8.
  ///   - database: A database of the same environment.
  /// - Returns: The bytes in the mapped file.
  /// - Throws: As ``value(forKey:in:)-(Span<UInt8>,_)``.
  @_lifetime(borrow self)
  public borrowing func value(forKey key: String, in database: Database) throws(StoreError) -> Span<UInt8>? {
    guard let found = unsafe try get(raw, owner, database, text: key) else { return nil }
    let span = unsafe Span(_unsafeElements: found)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Stores a value under the UTF-8 bytes of `key`, replacing the one that is there.
  ///
  /// - Parameters:
  ///   - value: 0 to ``Environment/maximumValueLength`` bytes.
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes of UTF-8.
  ///   - database: A database of the same environment.
  /// - Throws: As ``set(_:forKey:in:)-(Span<UInt8>,Span<UInt8>,_)``.
  @_lifetime(self: copy self)
  public mutating func set(_ value: [UInt8], forKey key: String, in database: Database) throws(StoreError) {
    let (raw, owner, cursor) = unsafe (raw, owner, cursor(changing: database))
    let code = try key.withKey { (bytes) throws(StoreError) in
      try check(bytes, database, owner)
      try check(value.span, database)
      return unsafe put(raw, cursor, database, bytes, value.span)
    }
    try finishSet(code, key.utf8.count + value.count, database)
  }

  /// Removes the key that is the UTF-8 bytes of `key`.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes of UTF-8.
  ///   - database: A database of the same environment.
  /// - Returns: Whether the key was there.
  /// - Throws: As ``removeValue(forKey:in:)-(Span<UInt8>,_)``.
  @discardableResult
  @_lifetime(self: copy self)
  public mutating func removeValue(forKey key: String, in database: Database) throws(StoreError) -> Bool {
    let (raw, owner, cursor) = unsafe (raw, owner, cursor(changing: database))
    let code = try key.withKey { (bytes) throws(StoreError) in
      try check(bytes, database, owner)
      return unsafe delete(raw, cursor, database, bytes)
    }
    return try finishRemoval(code, key.utf8.count, database)
  }
}

@unsafe
private func get(
  _ transaction: OpaquePointer, _ owner: EnvironmentID, _ database: Database, text: String
) throws(StoreError) -> UnsafeBufferPointer<UInt8>? {
  // Not `withKey`, whose generic result costs 40 instructions more.
  var text = text
  let result = text.withUTF8 { bytes -> Result<UnsafeBufferPointer<UInt8>?, StoreError> in
    do throws(StoreError) {
      return unsafe .success(try get(transaction, owner, database, Span(_unsafeElements: bytes)))
    } catch {
      return unsafe .failure(error)
    }
  }
  return unsafe try result.get()
}
