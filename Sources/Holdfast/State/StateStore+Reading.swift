public import LMDB

/// Merged fields, and until when they hold.
struct Merge {
  var fields: FieldMap
  /// When the first of the records expires, in milliseconds since 1970; 0 for never.
  var expiresAt: Int64
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
  public func withMerged<R>(_ keys: [StateKey], _ body: (borrowing MergedFields) throws -> R) throws -> R {
    try environment.read { transaction in try withMerged(keys, in: transaction, body) }
  }

  /// Runs `body` on the fields of all `keys` in a snapshot; see ``withMerged(_:_:)``.
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - transaction: The snapshot to read.
  ///   - body: Reads the fields.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; as ``merged(_:in:)-(_,ReadTransaction)``.
  public func withMerged<R>(
    _ keys: [StateKey], in transaction: borrowing ReadTransaction, _ body: (borrowing MergedFields) throws -> R
  ) throws -> R {
    try transaction.withValueList(capacity: keys.count, rows.cursors) { list in
      var list = list
      let found = try find(keys, &list)
      let overlaid = try overlay(keys, found, list, in: transaction)
      return try body(MergedFields(keys, list, overlaid: overlaid?.fields))
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
    memo?.keep(merge, of: keys, version)
    return merge
  }

  /// The fields of all `keys` in a snapshot.
  func merge(_ keys: [StateKey], in transaction: borrowing ReadTransaction) throws(StoreError) -> Merge {
    let id = transaction.id
    let result = transaction.withValueList(capacity: keys.count, rows.cursors) { list -> Result<Merge, StoreError> in
      do throws(StoreError) {
        var list = list
        let found = try find(keys, &list)
        let overlaid = try overlay(keys, found, list, in: transaction)
        let expiresAt = StateExpiry.earlier(found.expiresAt, overlaid?.expiresAt ?? 0)
        let fields = try MergedFields(keys, list, overlaid: overlaid?.fields).fields()
        return .success(
          Merge(fields: fields, expiresAt: expiresAt, transactionID: id, byteCount: found.byteCount))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// What is to be known about some records before their fields are read.
  private struct Found {
    var expiresAt: Int64 = 0
    var byteCount = 0
    /// The places of keys with layers; empty as long as nothing is in flight.
    var layered: [Int] = []
  }

  /// Looks up the records, leaving out those whose time is over.
  private func find(_ keys: [StateKey], _ list: inout ValueList) throws(StoreError) -> Found {
    var found = Found()
    for index in keys.indices {
      try keys[index].withStoredBytes { (bytes) throws(StoreError) in try list.append(valueForKey: bytes) }
      let header: RecordHeader
      do throws(Malformed) {
        guard let bytes = list[index] else { continue }
        header = try RecordHeader(bytes, of: keys[index])
        found.byteCount += bytes.count
      } catch {
        throw keys[index].unreadable(error)
      }
      if header.isLayered { found.layered.append(index) }
      guard header.expiresAt != 0 else { continue }
      if StateExpiry.isOver(header.expiresAt, at: time.now()) {
        list.removeValue(at: index)
      } else {
        found.expiresAt = StateExpiry.earlier(found.expiresAt, header.expiresAt)
      }
    }
    return found
  }

  /// The fields of all `keys` with what requests in flight and the session lay over them; `nil` if that is nothing.
  private func overlay(
    _ keys: [StateKey], _ found: Found, _ list: borrowing ValueList, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> (fields: FieldMap, expiresAt: Int64)? {
    if found.layered.isEmpty && session.isEmpty { return nil }
    let session = session.fields(of: keys, at: time.now())
    if found.layered.isEmpty && session.fields.allSatisfy({ $0 == nil }) { return nil }
    var layered = found.layered[...]
    var fields = FieldMap()
    for (index, key) in keys.enumerated() {
      var own = FieldMap()
      do throws(Malformed) {
        if let record = list[index] { own = try FieldTable.decode(RecordHeader.table(of: record)) }
      } catch {
        throw key.unreadable(error)
      }
      if layered.first == index {
        layered.removeFirst()
        for layer in try layers.layers(over: key, in: transaction) { layer.changes.apply(to: &own) }
      }
      own.merge(session.fields[index] ?? [:])
      fields.merge(own)
    }
    return (fields, session.expiresAt)
  }
}
