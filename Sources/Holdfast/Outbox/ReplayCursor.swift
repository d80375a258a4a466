public import LMDB

/// A named place in the journal of the outbox, from which somebody follows what happens there without missing anything.
///
/// It consists of a floor, up to which everything is done with, and of single records above it that are. Both are
/// written by ``commit(_:in:)-([JournalRecord],_)`` in the transaction that writes what was made of the records: for effects inside the store,
/// each record counts exactly once, whatever crashes when. For effects outside of it, at least once.
///
/// ```swift
/// let cursor = try await store.write { transaction in
///   try store.outbox.replayCursor("search-index", from: .start, in: &transaction)
/// }
/// for try await batch in cursor.batches() {
///   try await store.write { transaction in
///     for record in batch where record.kind == .delivered {
///       try store.state.update(StateKey(type: "indexed", id: "\(record.entry)"), ["at": .int(record.time)], in: &transaction)
///     }
///     try cursor.commit(batch, in: &transaction)
///   }
/// }
/// ```
///
/// A cursor has one committer: whoever opens it last. What an older handle commits is refused, in whatever process it
/// is, so that two followers cannot take turns in moving it.
public struct ReplayCursor: Sendable {
  /// Where a cursor begins.
  public enum Start: Sendable, Hashable {
    /// At the oldest record that is kept.
    case start
    /// Behind the newest record.
    case now
    /// At the record of this number.
    case at(UInt64)
  }

  /// Its name.
  public let name: String
  let outbox: Outbox
  let epoch: UInt64

  /// The longest name in bytes.
  public static let nameLimit = 200

  /// The records that are not done with, in order.
  ///
  /// What is returned stays pending until it is committed: the same call returns it again. Reads the records from the
  /// floor on, and so one by one what a cursor for rare kinds passes over.
  ///
  /// - Parameters:
  ///   - limit: How many at most; each is copied out of the file.
  ///   - sequence: Only records after this number, for whoever reads on before all is committed.
  /// - Returns: The records, of one snapshot; none if nothing is pending.
  /// - Throws: `cursorOverrun` if records were trimmed that were pending, until ``seek(to:in:)``; `corruptRecord` if one
  ///   cannot be read: commit its number to go on without it; `notFound` if the cursor has been removed.
  public func next(limit: Int, after sequence: UInt64 = 0) throws -> [JournalRecord] {
    try outbox.environment.read { transaction in
      let row = try outbox.cursors.row(name, in: transaction)
      try checkOverrun(row)
      var found: [JournalRecord] = []
      let range = KeyRange(lower: .excluded(max(row.floor, sequence).bigEndianBytes))
      var records = try transaction.cursor(in: outbox.journal.rows, over: range)
      while found.count < limit, try records.next() {
        let number = try EntryID(key: records.key, at: 0, of: outbox.journal.rows).rawValue
        guard row.wants(records.value), try !outbox.cursors.isAcknowledged(number, by: row, in: transaction) else {
          continue
        }
        found.append(try outbox.journal.record(number, records.value))
      }
      return found
    }
  }

  /// Notes that records are done with, in the transaction that writes what was made of them.
  ///
  /// In any order. A number that was committed before, or that the cursor does not want, changes nothing. Costs about a
  /// read for each record that the floor passes, and a write for each that stays above it.
  ///
  /// - Parameters:
  ///   - sequences: The numbers of the records.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `invalidValue` for a number that has no record yet; `busy` if somebody else has opened the cursor since;
  ///   `notFound` if it has been removed.
  public func commit(_ sequences: [UInt64], in transaction: inout WriteTransaction) throws(StoreError) {
    var row = try ownRow(in: transaction.reader)
    let last = try outbox.journal.lastSequence(in: transaction.reader)
    if let early = sequences.first(where: { $0 > last || $0 == 0 }) {
      throw StoreError(
        .invalidValue,
        "The replay cursor \(name) cannot commit the record \(early): the journal ends at \(last); commit what was read."
      )
    }
    try outbox.cursors.acknowledge(Set(sequences.filter { $0 > row.floor }), &row, outbox.journal, in: &transaction)
    try outbox.cursors.set(row, of: name, in: &transaction)
  }

  /// Notes that records are done with, in the transaction that writes what was made of them.
  ///
  /// - Parameters:
  ///   - records: The records, in any order.
  ///   - transaction: A write transaction of this store.
  /// - Throws: As the form that takes numbers.
  public func commit(_ records: [JournalRecord], in transaction: inout WriteTransaction) throws(StoreError) {
    try commit(records.map(\.sequence), in: &transaction)
  }

  /// Moves the cursor, forwards or back, and forgets what was committed beyond the new place and what was missed.
  ///
  /// The move is written to the journal.
  ///
  /// - Parameters:
  ///   - start: The new place.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `cursorOverrun` if the record is not kept any more, `invalidValue` if it does not exist yet; `busy` if
  ///   somebody else has opened the cursor since; `notFound` if it has been removed.
  public func seek(to start: Start, in transaction: inout WriteTransaction) throws(StoreError) {
    var row = try ownRow(in: transaction.reader)
    let former = row.floor
    row.floor = try outbox.floor(of: start, in: transaction.reader)
    row.missed = 0
    try outbox.cursors.removeAcknowledgements(of: row, upTo: .max, in: &transaction)
    try outbox.cursors.set(row, of: name, in: &transaction)
    try outbox.journal.append(
      .cursorMoved, EntryID(rawValue: 0), reason: "\(name): from \(former) to \(row.floor)", at: outbox.time.now(),
      in: &transaction)
  }

  private func ownRow(in transaction: borrowing ReadTransaction) throws(StoreError) -> ReplayCursorRow {
    let row = try outbox.cursors.row(name, in: transaction)
    guard row.epoch == epoch else {
      throw StoreError(
        .busy, "The replay cursor \(name) has been opened by somebody else since; leave it to them, or open it anew.")
    }
    return row
  }

  private func checkOverrun(_ row: ReplayCursorRow) throws(StoreError) {
    guard row.missed > 0 else { return }
    throw StoreError(
      .cursorOverrun,
      """
      The replay cursor \(name) has missed \(row.missed) records, which the journal had no room to keep; rebuild what \
      depends on them, then seek the cursor.
      """)
  }
}
