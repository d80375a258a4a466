public import LMDB

extension StateStore {
  /// Removes the record of a key.
  ///
  /// Works on one that cannot be read, too. Optimistic values of requests in flight stay until these are settled.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - transaction: A write transaction of this store.
  /// - Returns: Whether there was one.
  /// - Throws: `invalidKey` for a key that cannot be stored.
  @discardableResult
  public func remove(_ key: StateKey, in transaction: inout WriteTransaction) throws(StoreError) -> Bool {
    try key.checkDurable()
    guard let old = try recordToRemove(key, in: transaction.reader), old.isPresent else { return false }
    var live = old
    live.expire(at: time.now())
    if live.isPresent { try rows.log.append(key, fields: live.fields.map(\.name), in: &transaction) }
    try clear(key, old, in: &transaction)
    return live.isPresent
  }

  /// Removes some fields of a record, and the record with its last field.
  ///
  /// - Parameters:
  ///   - fields: The names; those that the record does not have are skipped.
  ///   - key: The record.
  ///   - transaction: A write transaction of this store.
  /// - Throws: As ``update(_:_:expires:in:)``.
  public func remove(
    fields: [String], of key: StateKey, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    var changes = FieldChanges()
    for name in fields { changes[name] = nil }
    try update(key, changes, in: &transaction)
  }

  /// Removes every record of a type.
  ///
  /// Costs as much as removing each of them, in one transaction. Optimistic values stay, as with ``remove(_:in:)``.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - transaction: A write transaction of this store.
  /// - Returns: How many records there were.
  /// - Throws: `invalidKey` for a type that no key can have.
  @discardableResult
  public func removeAll(type: String, in transaction: inout WriteTransaction) throws(StoreError) -> Int {
    try StateKey.check(type: type)
    let now = time.now()
    var count = 0
    try forEachRecord(ofType: type, in: &transaction) { (key, record, transaction) throws(StoreError) in
      var live = record
      live.expire(at: now)
      if live.isPresent { count += 1 }
      try clear(key, record, in: &transaction)
    }
    if count > 0 { try rows.log.append(.removedAll(type: type, stamp: 0), in: &transaction) }
    return count
  }

  /// Removes every record.
  ///
  /// Costs as much as removing each of them, in one transaction. Optimistic values stay, as with ``remove(_:in:)``.
  ///
  /// - Parameter transaction: A write transaction of this store.
  /// - Throws: A `StoreError` if the transaction cannot hold so many changes.
  public func removeAll(in transaction: inout WriteTransaction) throws(StoreError) {
    let layered = try layers.keys(in: transaction.reader)
    if try transaction.removeAll(in: rows.records) > 0 {
      try rows.log.append(.removedEverything(stamp: 0), in: &transaction)
    }
    try transaction.removeAll(in: rows.ids)
    try transaction.removeAll(in: rows.expiries)
    for key in layered {
      var stub = StateRecord()
      stub.isLayered = true
      try rows.set(stub, of: key, replacing: nil, in: &transaction)
    }
  }

  /// Takes the fields out of a record; what has layers stays as a stub that leads to them.
  func clear(
    _ key: StateKey, _ old: StateRecord, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    var record = StateRecord()
    record.isLayered = old.isLayered
    try rows.set(record, of: key, replacing: old, in: &transaction)
  }

  /// Calls `body` for each record of a type, or for all; it may remove it. Holds one batch of keys at a time.
  ///
  /// A record that cannot be read has a stand-in.
  func forEachRecord(
    ofType type: String?, in transaction: inout WriteTransaction,
    _ body: (StateKey, StateRecord, inout WriteTransaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    var range = KeyRange.prefix(type.map(StateKey.storedPrefix) ?? [])
    while true {
      let batch = try storedKeys(in: range, limit: 1000, transaction.reader)
      for stored in batch {
        let key: StateKey
        do throws(StoreError) {
          guard let found = try rows.key(ofRow: stored.span, in: transaction.reader) else { continue }
          key = found
        } catch  where error.code == .corruptRecord {
          // A short row's key is all that it takes to remove it.
          key = StateKey(String(decoding: stored, as: UTF8.self))
          guard key.form == .plain, key.storedBytes == stored else { throw error }
        }
        if let type, !key.type.hasSameBytes(as: type) { continue }
        guard let record = try recordToRemove(key, in: transaction.reader) else { continue }
        try body(key, record, &transaction)
      }
      guard batch.count == 1000, let last = batch.last else { return }
      range.lower = .excluded(last)
    }
  }

  private func storedKeys(
    in range: KeyRange, limit: Int, _ transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var cursor = try transaction.cursor(in: rows.records, over: range)
    while found.count < limit, try cursor.next() { found.append([UInt8](copying: cursor.key)) }
    return found
  }
}
