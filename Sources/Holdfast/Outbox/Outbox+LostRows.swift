import LMDB

/// Whether rows have been lost without which an entry is never sent, as by a repair of a damaged file.
extension Outbox {
  /// How many lanes are looked at.
  private static let lostRowsSample = 16

  /// Looks for an entry that nothing leads to, at a moment when nothing is in flight.
  ///
  /// Compares the numbers of rows, which LMDB keeps, and looks at the heads of the first few lanes; so it costs the same
  /// whatever waits. When a drain has nothing left to do, those that it could not see are among the first. ``verify(repair:)``
  /// looks at all.
  ///
  /// - Returns: What is wrong, in a sentence with the remedy; `nil` if nothing is.
  func lostRows(in transaction: borrowing ReadTransaction) throws(StoreError) -> String? {
    let pending = try transaction.count(of: entries)
    if pending == 0 { return nil }
    let placed = try transaction.count(of: lanes)
    if placed != pending { return lost("\(pending) entries have \(placed) rows in \(lanes.name)") }
    var cursor = try transaction.cursor(in: lanes)
    var isOnKey = try cursor.next()
    for _ in 0..<Self.lostRowsSample where isOnKey {
      let key = [UInt8](copying: cursor.key)
      guard let id = EntryID(endOf: key) else { return nil }
      if let row = try missingRow(of: id, in: transaction) { return lost("the entry \(id) has no row in \(row)") }
      // No entry has the highest number.
      let end = key.dropLast(8) + UInt64.max.bigEndianBytes
      isOnKey = try cursor.seek(to: end.span)
    }
    return nil
  }

  private func lost(_ what: String) -> String {
    "Of the outbox of \(environment.path), \(what), so that requests are not sent: run `Outbox.verify(repair: true)`."
  }

  /// The index in which the head of a lane should be and is not; `nil` also for one that cannot be read.
  private func missingRow(
    of id: EntryID, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> String? {
    guard let state = try readableState(of: id, in: transaction) else { return nil }
    let (index, row) = state.phase == .waiting ? (due, DueKey(state, id).bytes) : (running, runKey(state.epoch, id))
    let isThere = try transaction.value(forKey: row, in: index) != nil
    if isThere { return nil }
    guard let entry = try readableEntry(id, in: transaction) else { return nil }
    if state.phase == .waiting, try isPaused(.lane(entry.lane), in: transaction) { return nil }
    return index.name
  }
}
