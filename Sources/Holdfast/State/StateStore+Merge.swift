public import LMDB

extension StateStore {
  /// The fields of all `keys` in one map: where two records have a field, the later key wins.
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - transaction: The snapshot to read.
  /// - Returns: The merged fields; empty if there is no record.
  /// - Throws: `invalidKey` for a key that cannot be stored; `corruptRecord` if a record is unreadable.
  public func merged(_ keys: [StateKey], in transaction: borrowing ReadTransaction) throws(StoreError) -> FieldMap {
    try merge(keys, in: transaction).fields
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

  /// The fields of all `keys` in one map, as of the newest commit.
  ///
  /// Never waits for a writer. The result is kept (``StateOptions/memoLimit``): until something is committed, reading
  /// the same keys again is a look-up in memory.
  ///
  /// - Parameter keys: The records, least important first; missing ones are skipped.
  /// - Returns: The merged fields; empty if there is no record.
  /// - Throws: As ``merged(_:in:)-(_,ReadTransaction)``.
  public func merged(_ keys: [StateKey]) throws -> FieldMap {
    try mergedNow(keys).fields
  }

  /// The fields of several lists of keys, from one snapshot: all models of a screen.
  ///
  /// - Parameters:
  ///   - batch: Lists of keys, each as for ``merged(_:)``.
  ///   - bases: For each list the fields that every record overrides, such as what the server sent; without any, the
  ///     records alone are merged.
  /// - Returns: The merged fields of each list.
  /// - Throws: `invalidOption` if there are not as many bases as lists; as ``merged(_:in:)-(_,ReadTransaction)``.
  public func merged(batch: [[StateKey]], over bases: [FieldMap] = []) throws -> [FieldMap] {
    guard bases.isEmpty || bases.count == batch.count else {
      throw StoreError(
        .invalidOption,
        "There are \(batch.count) lists of keys and \(bases.count) bases; give one for each list, or none at all.")
    }
    return try environment.read { transaction in
      var results = bases.isEmpty ? Array(repeating: FieldMap(), count: batch.count) : bases
      for (index, keys) in batch.enumerated() { results[index].merge(try remembered(keys, in: transaction).fields) }
      return results
    }
  }

  /// The fields of all `keys` over those of a model: what the server sent, with what is known locally on top.
  ///
  /// - Parameters:
  ///   - keys: The records, least important first; missing ones are skipped.
  ///   - base: Fields that every record overrides.
  /// - Returns: The merged fields.
  /// - Throws: As ``merged(_:in:)-(_,ReadTransaction)``.
  public func merged(_ keys: [StateKey], over base: FieldMap) throws -> FieldMap {
    var fields = base
    fields.merge(try merged(keys))
    return fields
  }

  /// The fields of every record with one of some ids, whatever its type: a later id wins, and within one id the record
  /// updated last.
  ///
  /// Served by an index. Of one id, records of the session come after the durable ones.
  ///
  /// - Parameter ids: The ids, least important first; those without a record are skipped.
  /// - Returns: The merged fields; empty if there is no record.
  /// - Throws: As ``merged(ids:in:)``.
  public func merged(ids: [String]) throws -> FieldMap {
    try environment.read { transaction in try merged(ids: ids, in: transaction) }
  }

  /// The fields of every record with one of some ids, in a snapshot; see ``merged(ids:)``.
  ///
  /// - Parameters:
  ///   - ids: The ids, least important first; those without a record are skipped.
  ///   - transaction: The snapshot to read.
  /// - Returns: The merged fields; empty if there is no record.
  /// - Throws: `invalidKey` for an id that no key can have; `corruptRecord` if a record is unreadable.
  public func merged(ids: [String], in transaction: borrowing ReadTransaction) throws(StoreError) -> FieldMap {
    let now = time.now()
    var fields = FieldMap()
    for id in ids {
      try StateKey.check(id: id)
      var records: [(stamp: UInt64, fields: FieldMap)] = []
      for key in try rows.keys(ofID: id, in: transaction) {
        guard let record = try layeredRecord(key, at: now, in: transaction) else { continue }
        records.append((record.stamp, record.fields))
      }
      records.sort { $0.stamp < $1.stamp }
      for record in records { fields.merge(record.fields) }
      for more in session.fields(of: session.keys(ofID: id), at: now).fields { fields.merge(more ?? [:]) }
    }
    return fields
  }

  /// A record with what requests in flight have laid over it, stamped as the newest of these.
  func layeredRecord(
    _ key: StateKey, at now: Int64, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> StateRecord? {
    guard var record = try rows.record(key, in: transaction) else { return nil }
    record.expire(at: now)
    for layer in record.isLayered ? try layers.layers(over: key, in: transaction) : [] {
      layer.changes.apply(to: &record.fields)
      record.stamp = max(record.stamp, layer.stamp)
    }
    return record
  }
}
