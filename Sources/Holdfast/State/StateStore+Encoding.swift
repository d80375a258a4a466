public import LMDB

extension StateStore {
  /// Merges the properties of a value into the record of a key: each becomes a field, the other fields stay.
  ///
  /// A property that is `nil` is left out by synthesized conformances, so that its field stays, too; to remove it, name it
  /// in ``update(_:_:expires:in:)`` or use ``replace(_:from:expires:in:)``.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - value: What to take the fields from, by ``FieldEncoder``.
  ///   - expiry: How long the record lasts from now on.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `EncodingError` if the value does not make fields, before anything is changed; as
  ///   ``update(_:_:expires:in:)``.
  public func update(
    _ key: StateKey, from value: some Encodable, expires expiry: StateExpiry = .unchanged,
    in transaction: inout WriteTransaction
  ) throws {
    try update(key, FieldChanges(FieldEncoder().encode(value)), expires: expiry, in: &transaction)
  }

  /// Sets the record of a key to the properties of a value; fields that it had besides are gone.
  ///
  /// ``merged(_:as:)`` reads it back. A property that is `nil` is left out by synthesized conformances, and so is its
  /// field from then on.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - value: What to take the fields from, by ``FieldEncoder``; if it has none, the record is removed.
  ///   - expiry: How long the record lasts from now on.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `EncodingError` if the value does not make fields, before anything is changed; as
  ///   ``replace(_:with:expires:in:)``.
  public func replace(
    _ key: StateKey, from value: some Encodable, expires expiry: StateExpiry = .never,
    in transaction: inout WriteTransaction
  ) throws {
    try replace(key, with: FieldEncoder().encode(value), expires: expiry, in: &transaction)
  }
}
