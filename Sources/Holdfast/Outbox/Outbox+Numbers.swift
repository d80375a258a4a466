import LMDB

/// The numbers of entries. The highest is told by the newest record of the journal, so that giving one changes no row of
/// its own.
extension Outbox {
  /// The row of `outbox.meta` that told the highest number before layout 4.
  static let formerName = "sequence"

  /// The number of the next entry, which the record of its making must tell.
  func nextID(in transaction: borrowing WriteTransaction) throws(StoreError) -> EntryID {
    let highest =
      if let known = try journal.end(in: transaction).entry { known } else { try searchHighest(in: transaction.reader) }
    guard highest < .max else {
      throw StoreError(
        .corruptRecord,
        "The newest record of \(journal.rows.name) tells that entries have the highest number there is, which cannot be; "
          + "restore a copy of the store.")
    }
    return EntryID(rawValue: highest + 1)
  }

  /// The highest number that an entry has been given; zero if there has been none.
  func highestNumber(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    if let known = try journal.end(in: transaction).entry { return known }
    return try searchHighest(in: transaction)
  }

  /// The highest number that anything tells, where the newest record does not: it is damaged, or there is none.
  private func searchHighest(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    max(
      try journal.highestEntry(in: transaction), try highestRow(in: transaction),
      try meta.value(Self.formerName, in: transaction))
  }

  /// The newest record of the journal, as it is when it tells that entries have at least this number; `nil` if it does
  /// already, or if there is none that can be read.
  func journalRow(
    telling highest: UInt64, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
    let end = try journal.end(in: transaction)
    guard end.record > 0, end.entry ?? 0 < highest,
      let bytes = try transaction.value(forKey: ShortBytes(bigEndian: end.record), in: journal.rows),
      let row = journal.row(end.record, bytes, telling: highest)
    else { return nil }
    return (end.record.bigEndianBytes, row)
  }

  /// The highest number of an entry that is pending or dead; zero if there is none.
  func highestRow(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    var highest: UInt64 = 0
    for database in [entries, dead] {
      guard let key = try transaction.lastKey(in: database), key.count == 8 else { continue }
      highest = max(highest, try EntryID(key: key, at: 0, of: database).rawValue)
    }
    return highest
  }
}
