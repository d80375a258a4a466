import LMDB

extension StateStore {
  /// Checks everything that must hold between the databases of the state, and between its layers and the outbox.
  ///
  /// Every record can be read and is found by its id and its expiry, and nothing else is; layers, the records under
  /// them and the entries they belong to agree; stamps have no gap, and none is newer than the last change. Reads all of
  /// it in one snapshot; meant for tests and tools.
  ///
  /// - Parameter repair: Whether to put the list of changes right first, in a write of its own: while its end cannot be
  ///   read, nothing can be updated. What cannot be read of it, or does not lead up to the last change, is lost;
  ///   ``changes(after:)`` tells of it as ``StateChange/lagged(missed:)``. A record that cannot be read is left alone;
  ///   ``remove(_:in:)`` removes it.
  /// - Throws: `corruptRecord` for what cannot be read, `damaged` for what contradicts itself; both say which. As any
  ///   write if it repairs.
  public func verify(repair: Bool = false) throws {
    if repair {
      try environment.write { transaction in
        try rows.log.repair(newest: newestStamp(in: transaction.reader), in: &transaction)
      }
    }
    let entries = try environment.database("outbox.entry")
    try environment.read { transaction in
      let last = try verifyLog(transaction)
      try verifyRecords(upTo: last, transaction)
      try verifyLayers(upTo: last, entries, transaction)
    }
  }

  private func verifyLog(_ transaction: borrowing ReadTransaction) throws -> UInt64 {
    let last = try rows.log.lastStamp(in: transaction)
    let oldest = last - min(last, ChangeLog.limit)
    var expected = oldest
    var isFirst = true
    var cursor = try transaction.cursor(in: rows.log.changes)
    while try cursor.next() {
      let stamp = try rows.log.stamp(cursor.key)
      // Some more are there until they are removed together.
      if isFirst, stamp > 0, stamp <= oldest, oldest - stamp < ChangeLog.trimming { expected = stamp - 1 }
      isFirst = false
      expected += 1
      guard stamp == expected else { throw damaged("change \(expected) is missing") }
      do throws(Malformed) {
        _ = try StateChange(decoding: cursor.value, stamp: expected)
      } catch {
        throw damaged("change \(expected) cannot be read: \(error.reason)")
      }
    }
    return last
  }

  /// The highest stamp of a record or a layer that can be read.
  private func newestStamp(
    in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> (stamp: UInt64, key: StateKey)? {
    var newest: (stamp: UInt64, key: StateKey)?
    func note(_ stamp: UInt64, _ key: StateKey) {
      if stamp > newest?.stamp ?? 0 && stamp <= ChangeLog.highestStamp { newest = (stamp, key) }
    }
    var records = try transaction.cursor(in: rows.records)
    while try records.next() {
      do throws(Malformed) {
        let key = try StateKey(stored: records.key, record: records.value)
        note(try StateRecord(decoding: records.value, of: key).stamp, key)
      } catch {}
    }
    var rows = try transaction.cursor(in: layers.layers, over: .prefix([1]))
    while try rows.next() {
      do throws(StoreError) {
        let layer = try layers.layer(rows.key, rows.value)
        note(layer.stamp, layer.key)
      } catch {}
    }
    return newest
  }

  private func verifyRecords(upTo last: UInt64, _ transaction: borrowing ReadTransaction) throws {
    var count = 0
    var expiring = 0
    var layered: Set<StateKey> = []
    var cursor = try transaction.cursor(in: rows.records)
    while try cursor.next() {
      guard let key = try rows.key(ofRow: cursor.key, in: transaction),
        let record = try rows.record(key, in: transaction)
      else { throw damaged("a record is gone") }
      guard key.form == .plain || key.form == .hashed else { throw damaged("\(key) is no key") }
      guard !record.isVacant else { throw damaged("the record \(key) is empty") }
      guard record.stamp <= last else { throw damaged("the record \(key) is newer than the last change") }
      count += 1
      if record.isLayered { layered.insert(key) }
      let stored = key.storedBytes
      guard try isValue(stored, of: rows.idKey(key, stored).array, in: rows.ids, transaction) else {
        throw damaged("the record \(key) is not found by its id")
      }
      guard record.expiresAt != 0 else { continue }
      expiring += 1
      guard try isValue(stored, of: rows.expiryKey(record.expiresAt, stored).array, in: rows.expiries, transaction)
      else {
        throw damaged("the record \(key) is not found by its expiry")
      }
    }
    guard try transaction.count(of: rows.ids) == count else { throw damaged("state.id names records that are gone") }
    guard try transaction.count(of: rows.expiries) == expiring else {
      throw damaged("state.expiry names records that do not expire")
    }
    guard try layers.keys(in: transaction) == layered else {
      throw damaged("the layers and the records that have them disagree")
    }
  }

  private func verifyLayers(
    upTo last: UInt64, _ entries: Database, _ transaction: borrowing ReadTransaction
  ) throws {
    var count = 0
    var cursor = try transaction.cursor(in: layers.layers, over: .prefix([1]))
    while try cursor.next() {
      count += 1
      let layer = try layers.layer(cursor.key, cursor.value)
      let row = layers.layerKey(layer.key, layer.entry)
      let index = layers.entryKey(layer.entry, layer.key)
      guard cursor.key.elementsEqual(row.span), !layer.changes.isEmpty, layer.stamp <= last,
        try isValue([], of: index, in: layers.layers, transaction)
      else { throw damaged("the layer of entry \(layer.entry) over \(layer.key) contradicts itself") }
      let entry = layer.entry.bigEndianBytes
      guard try transaction.value(forKey: entry.span, in: entries) != nil else {
        throw damaged("\(layer.key) has a layer of entry \(layer.entry), which is not in the outbox")
      }
    }
    guard try transaction.count(of: layers.layers) == 2 * count else {
      throw damaged("state.layer names layers that are gone")
    }
  }

  private func isValue(
    _ value: [UInt8], of key: [UInt8], in database: Database, _ transaction: borrowing ReadTransaction
  ) throws -> Bool {
    guard let found = try transaction.value(forKey: key.span, in: database) else { return false }
    return found.elementsEqual(value.span)
  }

  private func damaged(_ what: String) -> StoreError {
    StoreError(
      .damaged, "The state in \(environment.path) contradicts itself: \(what); keep the file and restore a copy.")
  }
}
