public import LMDB

extension StateStore {
  /// Merges changes into the record of a key: fields named in `changes` are set or removed, the others stay.
  ///
  /// A record that is left without a field is removed. Costs three reads and three writes in the tree, a few more when
  /// the record is new or its expiry changes.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - changes: The fields to set; `nil` removes.
  ///   - expiry: How long the record lasts from now on.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `invalidKey` or `invalidValue` for what cannot be stored; `corruptRecord` if the record is unreadable;
  ///   `mapFull` close to the file's limit, if fields are set.
  public func update(
    _ key: StateKey, _ changes: FieldChanges, expires expiry: StateExpiry = .unchanged,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    try key.checkDurable()
    if !changes.values.isEmpty { try environment.checkHeadroom(in: transaction, or: .mapFull) }
    let now = time.now()
    let old = try rows.record(key, in: transaction.reader)
    var record = old ?? StateRecord()
    record.update(changes, expiry, at: now)
    try set(record, of: key, replacing: old, changed: changes.names, at: now, in: &transaction)
  }

  /// Sets the record of a key to some fields; others that it had are gone.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - fields: All that it has from now on; with none, it is removed.
  ///   - expiry: How long the record lasts from now on.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `invalidKey` or `invalidValue` for what cannot be stored; `mapFull` close to the file's limit.
  public func replace(
    _ key: StateKey, with fields: FieldMap, expires expiry: StateExpiry = .never,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    try key.checkDurable()
    if !fields.isEmpty { try environment.checkHeadroom(in: transaction, or: .mapFull) }
    let now = time.now()
    let old = try recordToRemove(key, in: transaction.reader)
    var record = old ?? StateRecord()
    record.expire(at: now)
    let names = record.fields.names(differingFrom: fields)
    record.fields = fields
    record.expiresAt = fields.isEmpty ? 0 : expiry.date(after: record.expiresAt, at: now)
    record.isUnreadable = false
    if fields.isEmpty && !(old?.isPresent ?? false) { return }
    try set(record, of: key, replacing: old, changed: names, at: now, in: &transaction)
  }

  /// Stores what has become of a record, under a new stamp, unless there was and is nothing.
  func set(
    _ record: StateRecord, of key: StateKey, replacing old: StateRecord?, changed names: [String], at now: Int64,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    if old == nil && record.isVacant { return }
    var record = record
    // What cannot be stored is found out before anything is.
    if !record.isVacant { _ = try record.encoded(for: key) }
    let stamp = try rows.log.append(key, fields: names, in: &transaction)
    record.stamp = record.fields.isEmpty ? 0 : stamp
    record.updatedAt = now
    try rows.set(record, of: key, replacing: old, in: &transaction)
  }

  /// The record of a key that is about to lose its fields; one that cannot be read has a stand-in.
  func recordToRemove(
    _ key: StateKey, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> StateRecord? {
    do throws(StoreError) {
      return try rows.record(key, in: transaction)
    } catch  where error.code == .corruptRecord {
      var record = StateRecord()
      record.isUnreadable = true
      record.isLayered = try layers.exist(over: key, in: transaction)
      return record
    }
  }
}

extension StateRecord {
  /// Merges changes into the fields.
  mutating func update(_ changes: FieldChanges, _ expiry: StateExpiry, at now: Int64) {
    expire(at: now)
    changes.apply(to: &fields)
    expiresAt = fields.isEmpty ? 0 : expiry.date(after: expiresAt, at: now)
  }
}

extension FieldMap {
  /// The names of the fields in which the maps differ, in byte order.
  func names(differingFrom other: FieldMap) -> [String] {
    var all = self
    all.merge(other)
    return all.map(\.name).filter { self[$0] != other[$0] }
  }
}
