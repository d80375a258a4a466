import LMDB

/// The databases of the state, of which each change keeps all in step.
///
/// A record is found by its key, by its id alone and by its time of expiry.
struct StateRows: Sendable {
  /// `type:id` → a record.
  let records: Database
  /// Hash of the id, hash of the key → the record's key. Written when a record comes or goes, not by its updates.
  let ids: Database
  /// Time, hash of the key → the record's key; only of records that expire.
  let expiries: Database
  let log: ChangeLog
  let cursors: CursorPool

  init(_ environment: Environment) throws(StoreError) {
    records = try environment.database("state.record")
    ids = try environment.database("state.id")
    expiries = try environment.database("state.expiry")
    log = ChangeLog(changes: try environment.database("state.change"))
    cursors = CursorPool(of: records)
  }

  /// The record of a key, whether or not its time is over.
  func record(
    _ key: StateKey, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> StateRecord? {
    let stored = key.storedBytes
    guard let bytes = try transaction.value(forKey: stored.span, in: records) else { return nil }
    do throws(Malformed) {
      return try StateRecord(decoding: bytes, of: key)
    } catch {
      throw key.unreadable(error)
    }
  }

  /// Stores a record in place of the old one; a vacant one is removed.
  func set(
    _ record: StateRecord, of key: StateKey, replacing old: StateRecord?, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let stored = key.storedBytes
    if let old, old.isUnreadable {
      for row in try expiryRows(of: stored, in: transaction.reader) { try transaction.remove(row, in: expiries) }
    }
    guard !record.isVacant else {
      if let old { try remove(key, old, in: &transaction) }
      return
    }
    try transaction.set(record.encoded(for: key), forKey: stored, in: records)
    if old == nil { try transaction.set(stored, forKey: idKey(key, stored), in: ids) }
    let oldExpiry = old?.expiresAt ?? 0
    guard record.expiresAt != oldExpiry else { return }
    if oldExpiry != 0 { try transaction.remove(expiryKey(oldExpiry, stored), in: expiries) }
    if record.expiresAt != 0 {
      try transaction.set(stored, forKey: expiryKey(record.expiresAt, stored), in: expiries)
    }
  }

  /// Removes a record with what leads to it.
  func remove(
    _ key: StateKey, _ old: StateRecord?, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let stored = key.storedBytes
    try transaction.remove(stored, in: records)
    try transaction.remove(idKey(key, stored), in: ids)
    if let old, old.expiresAt != 0 { try transaction.remove(expiryKey(old.expiresAt, stored), in: expiries) }
  }

  /// When a record that cannot be read was to expire, only the list of expiries knows, which is gone through.
  private func expiryRows(
    of stored: [UInt8], in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var cursor = try transaction.cursor(in: expiries)
    while try cursor.next() {
      if cursor.value.elementsEqual(stored.span) { found.append([UInt8](copying: cursor.key)) }
    }
    return found
  }

  /// The keys of records of any type with an id, in no particular order.
  func keys(ofID id: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> [StateKey] {
    var found: [StateKey] = []
    var cursor = try transaction.cursor(in: ids, over: .prefix(SipHash.hash128(id).array))
    while try cursor.next() {
      let key = try key(ofRow: cursor.value, in: transaction)
      // Another id with the same hash is none of ours.
      if let key, key.idBytes.elementsEqual(id.utf8) { found.append(key) }
    }
    return found
  }

  /// The key that a row of an index leads to; `nil` if its record is gone.
  func key(
    ofRow stored: Span<UInt8>, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> StateKey? {
    guard let record = try transaction.value(forKey: stored, in: records) else { return nil }
    return try key(stored: stored, record: record)
  }

  /// The key of a row of records.
  func key(stored: Span<UInt8>, record: Span<UInt8>) throws(StoreError) -> StateKey {
    do throws(Malformed) {
      return try StateKey(stored: stored, record: record)
    } catch {
      throw StateKey(String(decoding: [UInt8](copying: stored), as: UTF8.self)).unreadable(error)
    }
  }

  func idKey(_ key: StateKey, _ stored: [UInt8]) -> ShortBytes {
    var row = SipHash.hash128(Array(key.idBytes))
    row.append(SipHash.hash128(stored))
    return row
  }

  func expiryKey(_ time: Int64, _ stored: [UInt8]) -> ShortBytes {
    var row = ShortBytes(bigEndian: UInt64(max(0, time)))
    row.append(SipHash.hash128(stored))
    return row
  }
}
