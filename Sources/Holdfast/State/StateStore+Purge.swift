public import LMDB

extension StateStore {
  /// Deletes records whose time is over, also those of the session.
  ///
  /// They are misses already; this makes their room free. Found through an index, oldest first: costs nothing for the
  /// records that stay.
  ///
  /// - Parameters:
  ///   - limit: The most durable records to delete, so that a transaction stays short.
  ///   - transaction: A write transaction of this store.
  /// - Returns: How many durable records were deleted; call again if it is `limit`. One that cannot be read stays:
  ///   ``verify(repair:)`` names it, ``remove(_:in:)`` deletes it.
  /// - Throws: A `StoreError` if the transaction cannot hold so many changes.
  @discardableResult
  public func purge(limit: Int = 10_000, in transaction: inout WriteTransaction) throws(StoreError) -> Int {
    session.purge()
    let now = time.now()
    let end = UInt64(max(0, now)).bigEndianBytes + [UInt8](repeating: 0xFF, count: 16)
    var range = KeyRange(upper: .included(end))
    var count = 0
    while count < limit {
      let batch = try expiryRows(in: range, limit: min(1000, limit - count), transaction.reader)
      guard let last = batch.last else { return count }
      range.lower = .excluded(last.row)
      for (row, stored) in batch {
        let key: StateKey?
        let record: StateRecord?
        do throws(StoreError) {
          key = try rows.key(ofRow: stored.span, in: transaction.reader)
          record = if let key { try rows.record(key, in: transaction.reader) } else { nil }
        } catch  where error.code == .corruptRecord {
          continue
        }
        try transaction.remove(row, in: rows.expiries)
        guard let key, let record, StateExpiry.isOver(record.expiresAt, at: now) else { continue }
        try rows.log.append(key, fields: record.fields.map(\.name), in: &transaction)
        try clear(key, record, in: &transaction)
        count += 1
      }
    }
    return count
  }

  /// Deletes durable records that were last updated before some time ago.
  ///
  /// Reads every record; meant for a rare clean-up.
  ///
  /// - Parameters:
  ///   - age: How long ago, by the system's clock.
  ///   - type: Of which type; `nil` for all.
  ///   - transaction: A write transaction of this store.
  /// - Returns: How many were deleted.
  /// - Throws: `corruptRecord` if a record with a long key cannot be read.
  @discardableResult
  public func purge(
    olderThan age: Duration, type: String? = nil, in transaction: inout WriteTransaction
  ) throws(StoreError) -> Int {
    let limit = time.now() - age.milliseconds
    var count = 0
    try forEachRecord(ofType: type, in: &transaction) { (key, record, transaction) throws(StoreError) in
      guard !record.fields.isEmpty, record.updatedAt < limit else { return }
      count += 1
      try rows.log.append(key, fields: record.fields.map(\.name), in: &transaction)
      try clear(key, record, in: &transaction)
    }
    return count
  }

  /// Deletes the durable records of a type but for those that were updated last.
  ///
  /// Records whose time is over are left to ``purge(limit:in:)`` and not counted. Reads every record of the type; keeps 8
  /// bytes a record in memory.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - count: How many to keep; not negative.
  ///   - transaction: A write transaction of this store.
  /// - Returns: How many were deleted.
  /// - Throws: `invalidKey` for a type that no key can have, `invalidOption` for a negative number; `corruptRecord` if a
  ///   record with a long key cannot be read.
  @discardableResult
  public func purge(
    type: String, keeping count: Int, in transaction: inout WriteTransaction
  ) throws(StoreError) -> Int {
    try StateKey.check(type: type)
    guard count >= 0 else {
      throw StoreError(.invalidOption, "\(count) records of \(type) cannot be kept; give zero or more.")
    }
    let now = time.now()
    func isLive(_ record: StateRecord) -> Bool {
      !record.fields.isEmpty && !StateExpiry.isOver(record.expiresAt, at: now)
    }
    var stamps: [UInt64] = []
    try forEachRecord(ofType: type, in: &transaction) { (_, record, _) throws(StoreError) in
      if isLive(record) { stamps.append(record.stamp) }
    }
    let excess = stamps.count - count
    guard excess > 0 else { return 0 }
    let limit = stamps.sorted()[excess - 1]
    try forEachRecord(ofType: type, in: &transaction) { (key, record, transaction) throws(StoreError) in
      guard isLive(record), record.stamp <= limit else { return }
      try rows.log.append(key, fields: record.fields.map(\.name), in: &transaction)
      try clear(key, record, in: &transaction)
    }
    return excess
  }

  private func expiryRows(
    in range: KeyRange, limit: Int, _ transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [(row: [UInt8], stored: [UInt8])] {
    var found: [(row: [UInt8], stored: [UInt8])] = []
    var cursor = try transaction.cursor(in: rows.expiries, over: range)
    while found.count < limit, try cursor.next() {
      found.append(([UInt8](copying: cursor.key), [UInt8](copying: cursor.value)))
    }
    return found
  }
}
