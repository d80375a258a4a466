public import LMDB

/// What the app knows locally: records of typed fields by `type:id`, merged on read.
///
/// ```swift
/// try store.write { transaction in
///   try store.state.update("post:42", ["hasComment": true], in: &transaction)
/// }
/// let card = try store.state.merged(["post:42", "user:7"])
/// ```
///
/// Thread-safe. Changes are made inside a transaction of the ``Store`` and become visible and durable with its commit.
public struct StateStore: Sendable {
  static let databases = ["state.record", "state.meta"]

  private let environment: Environment
  private let records: Database
  private let meta: MetaTable
  private let time: SystemTime

  init(_ environment: Environment, time: SystemTime) throws(StoreError) {
    self.environment = environment
    self.time = time
    records = try environment.database("state.record")
    meta = MetaTable(try environment.database("state.meta"))
  }

  /// Merges changes into the record of a key: fields named in `changes` are set or removed, the others stay.
  ///
  /// A record that is left without a field is removed. Costs one read and two writes in the tree.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - changes: The fields to set; `nil` removes.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `invalidKey` or `invalidValue` for what cannot be stored; `corruptRecord` if the record is unreadable.
  public func update(
    _ key: StateKey, _ changes: FieldChanges, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let stored = try key.storedBytes()
    let old = try record(key, stored, in: transaction.reader)
    var fields = old?.fields ?? FieldMap()
    changes.apply(to: &fields)
    if fields.isEmpty {
      try transaction.removeValue(forKey: stored.span, in: records)
      return
    }
    var record = StateRecord(
      stamp: try meta.increment("stamp", in: &transaction), updatedAt: time.now(), fields: fields)
    record.expiresAt = old?.expiresAt ?? 0
    let bytes = try record.encoded(for: key)
    try transaction.set(bytes.span, forKey: stored.span, in: records)
  }

  /// Removes the record of a key.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - transaction: A write transaction of this store.
  /// - Returns: Whether there was one.
  /// - Throws: `invalidKey` for a key that cannot be stored.
  @discardableResult
  public func remove(_ key: StateKey, in transaction: inout WriteTransaction) throws(StoreError) -> Bool {
    let stored = try key.storedBytes()
    return try transaction.removeValue(forKey: stored.span, in: records)
  }

  /// The fields of all `keys` in one map: where two records have a field, the later key wins.
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - transaction: The snapshot to read.
  /// - Returns: The merged fields; empty if there is no record.
  /// - Throws: `invalidKey` for a key that cannot be stored; `corruptRecord` if a record is unreadable.
  public func merged(_ keys: [StateKey], in transaction: borrowing ReadTransaction) throws(StoreError) -> FieldMap {
    var fields = FieldMap()
    for key in keys {
      if let record = try record(key, key.storedBytes(), in: transaction) { fields.merge(record.fields) }
    }
    return fields
  }

  /// The fields of all `keys` in one map, as they are in a write: with the changes made so far.
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - transaction: The write transaction to read in, such as that of a hook.
  /// - Returns: The merged fields; empty if there is no record.
  /// - Throws: As for a ``merged(_:in:)-(_,ReadTransaction)``.
  public func merged(_ keys: [StateKey], in transaction: borrowing WriteTransaction) throws(StoreError) -> FieldMap {
    try merged(keys, in: transaction.reader)
  }

  /// The fields of all `keys` in one map, from one snapshot of the newest commit.
  ///
  /// - Parameter keys: The records, least important first; missing ones are skipped.
  /// - Returns: The merged fields; empty if there is no record.
  /// - Throws: As ``merged(_:in:)-(_,ReadTransaction)``.
  public func merged(_ keys: [StateKey]) throws -> FieldMap {
    try environment.read { transaction in try merged(keys, in: transaction) }
  }

  private func record(
    _ key: StateKey, _ stored: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> StateRecord? {
    guard let bytes = try transaction.value(forKey: stored.span, in: records) else { return nil }
    return try StateRecord(decoding: bytes, for: key)
  }
}
