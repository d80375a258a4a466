import LMDB

/// The rows of the replay cursors.
struct ReplayCursorTable: Sendable {
  /// How many records the floor passes in one commit at most; the next commit goes on.
  private static let stride = 10_000

  /// Name → ``ReplayCursorRow``.
  let rows: Database
  /// Id of a cursor, number of a record → nothing: what is done with above the floor.
  let acknowledgements: Database

  func existingRow(
    _ name: String, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> ReplayCursorRow? {
    let key = Array(name.utf8)
    guard let bytes = try transaction.value(forKey: key.span, in: rows) else { return nil }
    return try decode(name, bytes)
  }

  func row(_ name: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> ReplayCursorRow {
    guard let row = try existingRow(name, in: transaction) else {
      throw StoreError(.notFound, "There is no replay cursor \(name); open it, which makes it.")
    }
    return row
  }

  func allRows(
    in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [(name: String, row: ReplayCursorRow)] {
    var found: [(name: String, row: ReplayCursorRow)] = []
    var cursor = try transaction.cursor(in: rows)
    while try cursor.next() {
      let name = String(decoding: [UInt8](copying: cursor.key), as: UTF8.self)
      found.append((name, try decode(name, cursor.value)))
    }
    return found
  }

  func decode(_ name: String, _ bytes: Span<UInt8>) throws(StoreError) -> ReplayCursorRow {
    do throws(Malformed) {
      return try ReplayCursorRow(decoding: bytes)
    } catch {
      throw StoreError(
        .corruptRecord, "The replay cursor \(name) cannot be read: \(error.reason); remove it, and begin anew.")
    }
  }

  func set(_ row: ReplayCursorRow, of name: String, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.set(row.encoded, forKey: Array(name.utf8), in: rows)
  }

  func isAcknowledged(
    _ sequence: UInt64, by row: ReplayCursorRow, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    let key = row.id.bigEndianBytes + sequence.bigEndianBytes
    return try transaction.value(forKey: key.span, in: acknowledgements) != nil
  }

  /// Adds numbers above the floor to what is done with, and raises the floor over all that is: acknowledged, or not
  /// wanted.
  func acknowledge(
    _ sequences: Set<UInt64>, _ row: inout ReplayCursorRow, _ journal: Journal,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let floor = try floor(of: row, journal, adding: sequences, in: transaction.reader)
    if floor > row.floor {
      row.floor = floor
      try removeAcknowledgements(of: row, upTo: floor, in: &transaction)
    }
    for sequence in sequences.sorted() where sequence > floor {
      try transaction.set([], forKey: row.id.bigEndianBytes + sequence.bigEndianBytes, in: acknowledgements)
    }
  }

  private func floor(
    of row: ReplayCursorRow, _ journal: Journal, adding sequences: Set<UInt64>,
    in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> UInt64 {
    var floor = row.floor
    var records = try transaction.cursor(
      in: journal.rows, over: KeyRange(lower: .excluded(row.floor.bigEndianBytes)))
    for _ in 0..<Self.stride {
      guard try records.next() else { return floor }
      let number = try EntryID(key: records.key, at: 0, of: journal.rows).rawValue
      if row.wants(records.value) && !sequences.contains(number) {
        guard try isAcknowledged(number, by: row, in: transaction) else { return floor }
      }
      floor = number
    }
    return floor
  }

  func removeAcknowledgements(
    of row: ReplayCursorRow, upTo sequence: UInt64, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let id = row.id.bigEndianBytes
    let range = KeyRange(lower: .included(id), upper: .included(id + sequence.bigEndianBytes))
    _ = try transaction.removeAll(range, in: acknowledgements)
  }
}
