extension SessionState {
  /// Merges the properties of a value into the record of a key, as ``StateStore/update(_:from:expires:in:)``.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - value: What to take the fields from, by ``FieldEncoder``; a property that is `nil` leaves its field alone.
  ///   - expiry: How long the record lasts from now on.
  /// - Throws: `EncodingError` if the value does not make fields; `invalidKey` for a key that no record can have.
  public func update(
    _ key: StateKey, from value: some Encodable, expires expiry: StateExpiry = .unchanged
  ) throws {
    try update(key, FieldChanges(FieldEncoder().encode(value)), expires: expiry)
  }

  /// Sets the record of a key to the properties of a value, as ``StateStore/replace(_:from:expires:in:)``.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - value: What to take the fields from, by ``FieldEncoder``; if it has none, the record is removed.
  ///   - expiry: How long the record lasts from now on.
  /// - Throws: `EncodingError` if the value does not make fields; `invalidKey` for a key that no record can have.
  public func replace(
    _ key: StateKey, from value: some Encodable, expires expiry: StateExpiry = .never
  ) throws {
    try replace(key, with: FieldEncoder().encode(value), expires: expiry)
  }
}
