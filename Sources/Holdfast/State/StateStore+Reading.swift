public import LMDB

/// Merged fields, and until when they hold.
struct Merge {
  var fields: FieldMap
  /// When the records expire and have expired: the fields are those of every moment in between.
  var times: StateTimes
  /// The commit that was read.
  var transactionID: Int
  /// How many bytes the records have.
  var byteCount: Int
}

extension StateStore {
  /// Runs `body` on the fields of all `keys`, which it reads where they lie; where two have a field, the later key wins.
  ///
  /// The cheapest read: no map is built, and up to 64 keys take no memory. See ``MergedFields``. Neighbouring keys, in
  /// either direction, are read in one pass.
  ///
  /// ```swift
  /// let isFollowed = try store.state.withMerged(["post:42", "user:7"]) { fields in
  ///   try fields.bool("isFollowed") ?? false
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - body: Reads the fields. Keep it short: the file grows while old snapshots are open.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; as ``merged(_:in:)-(_,ReadTransaction)``.
  @inlinable
  public func withMerged<R>(_ keys: [StateKey], _ body: (borrowing MergedFields) throws -> R) throws -> R {
    var result: R?
    try withView(keys) { fields in result = try body(fields) }
    guard let result else { preconditionFailure("The body has not run.") }
    return result
  }

  /// Runs `body` on the fields of all `keys` in a snapshot; see ``withMerged(_:_:)``.
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - transaction: The snapshot to read.
  ///   - body: Reads the fields.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; as ``merged(_:in:)-(_,ReadTransaction)``.
  @inlinable
  public func withMerged<R>(
    _ keys: [StateKey], in transaction: borrowing ReadTransaction, _ body: (borrowing MergedFields) throws -> R
  ) throws -> R {
    var result: R?
    try withView(keys, in: transaction) { fields in result = try body(fields) }
    guard let result else { preconditionFailure("The body has not run.") }
    return result
  }

  // Without a result, since a generic function that is not compiled into its caller costs as much as a read.

  @usableFromInline
  func withView(_ keys: [StateKey], _ body: (borrowing MergedFields) throws -> Void) throws {
    try environment.read { transaction in try withView(keys, in: transaction, body) }
  }

  @usableFromInline
  func withView(
    _ keys: [StateKey], in transaction: borrowing ReadTransaction, _ body: (borrowing MergedFields) throws -> Void
  ) throws {
    let session = try sessionFields(keys)
    try transaction.withValueList(capacity: keys.count, rows.cursors) { list in
      try body(view(keys, list, session))
    }
  }

  /// The fields of all `keys` as of the newest commit, from memory if nothing has been committed since.
  func mergedNow(_ keys: [StateKey]) throws -> Merge {
    if let memo, let known = memo.merge(of: keys, at: try environment.lastTransactionID, session.version, time.now) {
      return known
    }
    return try environment.read { transaction in try mergedAndKept(keys, in: transaction) }
  }

  /// The fields of all `keys` in a snapshot, from memory if they are known.
  func remembered(_ keys: [StateKey], in transaction: borrowing ReadTransaction) throws(StoreError) -> Merge {
    if let memo, let known = memo.merge(of: keys, at: transaction.id, session.version, time.now) { return known }
    return try mergedAndKept(keys, in: transaction)
  }

  private func mergedAndKept(
    _ keys: [StateKey], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Merge {
    // Read first: a change of the session that comes in between makes the result stale at once.
    let version = session.version
    let merge = try merge(keys, in: transaction)
    // Another snapshot of that number may show another commit, and would be mixed with it.
    if transaction.isSureOfID { memo?.keep(merge, of: keys, version) }
    return merge
  }

  /// The fields of all `keys` in a snapshot.
  func merge(_ keys: [StateKey], in transaction: borrowing ReadTransaction) throws(StoreError) -> Merge {
    let id = transaction.id
    // Before anything is read, and once: what ends in between has its end to come, however the clock is set.
    let now = time.now()
    let session = try sessionFields(keys, at: now)
    let result = transaction.withValueList(capacity: keys.count, rows.cursors) { list -> Result<Merge, StoreError> in
      do throws(StoreError) {
        let view = view(keys, list, session, at: now)
        let fields = try view.fields()
        var times = session.times
        let byteCount = view.extent(&times, at: now)
        return .success(Merge(fields: fields, times: times, transactionID: id, byteCount: byteCount))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  @_lifetime(copy list)
  private func view(
    _ keys: [StateKey], _ list: consuming ValueList, _ session: (fields: [FieldMap?], times: StateTimes),
    at now: Int64? = nil
  ) -> MergedFields {
    MergedFields(self, keys, list, session: session.fields, at: now)
  }

  /// Checks all keys, so that no call takes an invalid one by chance, and gets what the session has for them: nothing if
  /// it has nothing for any.
  private func sessionFields(
    _ keys: [StateKey], at now: Int64? = nil
  ) throws(StoreError) -> (fields: [FieldMap?], times: StateTimes) {
    // Through a span, without a copy of each key.
    let span = keys.span
    for index in span.indices where !span[index].isValid { try span[index].check() }
    if session.isEmpty { return ([], StateTimes()) }
    let found = session.fields(of: keys, at: now ?? time.now())
    return found.fields.allSatisfy { $0 == nil } ? ([], found.times) : found
  }
}
