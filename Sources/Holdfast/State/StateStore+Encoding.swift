public import LMDB

extension StateStore {
  /// The fields of all `keys`, over those of a model, decoded as a value of your own type.
  ///
  /// Where there is no field at all, an optional type gives `nil`: `as: Draft?.self` asks for a draft if there is one.
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - base: Fields that every record overrides, such as what the server sent.
  ///   - type: What to make of the fields, by ``FieldDecoder``.
  /// - Returns: The value.
  /// - Throws: `DecodingError`, which names the keys, if the fields do not make one; as
  ///   ``merged(_:in:)-(_,ReadTransaction)``.
  public func merged<T: Decodable>(_ keys: [StateKey], over base: FieldMap = [:], as type: T.Type) throws -> T {
    try FieldDecoder().decode(type, from: merged(keys, over: base), of: keys)
  }

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
  /// ``merged(_:over:as:)`` reads it back. A property that is `nil` is left out by synthesized conformances, and so is its
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
