public import LMDB

extension StateStore {
  /// What is known of a durable record, without its fields.
  public struct RecordInfo: Sendable, Hashable {
    /// The stamp of the update that wrote it; see ``StateChange``. 0 if only requests in flight have given it fields.
    public let stamp: UInt64
    /// When that was, in ms since 1970; 0 as for the stamp.
    public let updatedAt: Int64
    /// When it expires, in ms since 1970; `nil` is never.
    public let expiresAt: Int64?
    /// Whether requests in flight have laid fields over it, or removed some.
    public let hasOptimisticChanges: Bool
  }

  /// What is known of the durable record of a key, as of the newest commit.
  ///
  /// - Parameter key: The record.
  /// - Returns: The facts; `nil` if there is no record, or its time is over and no request in flight has changed it.
  /// - Throws: As ``info(forKey:in:)``.
  public func info(forKey key: StateKey) throws -> RecordInfo? {
    try environment.read { transaction in try info(forKey: key, in: transaction) }
  }

  /// What is known of the durable record of a key, in a snapshot.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - transaction: The snapshot to read.
  /// - Returns: The facts; `nil` if there is no record, or its time is over and no request in flight has changed it.
  /// - Throws: `invalidKey` for a key that cannot be stored; `corruptRecord` if the record is unreadable.
  public func info(forKey key: StateKey, in transaction: borrowing ReadTransaction) throws(StoreError) -> RecordInfo? {
    try key.check()
    guard var record = try rows.record(key, in: transaction) else { return nil }
    record.expire(at: time.now())
    guard !record.isVacant else { return nil }
    return RecordInfo(
      stamp: record.stamp, updatedAt: record.fields.isEmpty ? 0 : record.updatedAt,
      expiresAt: record.expiresAt == 0 ? nil : record.expiresAt, hasOptimisticChanges: record.isLayered)
  }

  /// The stamp of the last change of the durable state, as of the newest commit; 0 if there has been none.
  ///
  /// - Returns: The stamp.
  /// - Throws: As ``lastStamp(in:)``.
  public func lastStamp() throws -> UInt64 {
    try environment.read { transaction in try lastStamp(in: transaction) }
  }

  /// The stamp of the last change of the durable state, in a snapshot; 0 if there has been none.
  ///
  /// Whoever keeps a copy of some state notes it with what it reads, and goes on with ``changes(after:)`` from there:
  ///
  /// ```swift
  /// let (fields, stamp) = try store.read { transaction in
  ///   (try store.state.merged(["post:42"], in: transaction), try store.state.lastStamp(in: transaction))
  /// }
  /// print(fields)
  /// for try await change in try store.state.changes(after: stamp) { print(change) }
  /// ```
  ///
  /// - Parameter transaction: The snapshot to read.
  /// - Returns: The stamp.
  /// - Throws: `corruptRecord` if the list of changes is unreadable.
  public func lastStamp(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    try rows.log.lastStamp(in: transaction)
  }
}
