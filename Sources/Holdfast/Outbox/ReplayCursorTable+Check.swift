import LMDB

extension ReplayCursorTable {
  /// A row that should not be as it is.
  struct Problem: Hashable {
    /// What is wrong, in a sentence.
    let text: String
    /// The acknowledgement that may be removed, if that is all.
    var acknowledgement: [UInt8]?
  }

  /// Checks that no cursor is ahead of the journal, and that each acknowledgement lies between the floor of its cursor and
  /// the end of the journal.
  func problems(_ journal: Journal, in transaction: borrowing ReadTransaction) throws(StoreError) -> [Problem] {
    let last: UInt64
    do throws(StoreError) { last = try journal.lastSequence(in: transaction) } catch  where error.code == .corruptRecord
    {
      return [Problem(text: error.message)]
    }
    var problems: [Problem] = []
    var floors: [UInt64: UInt64] = [:]
    var cursor = try transaction.cursor(in: rows)
    while try cursor.next() {
      let name = String(decoding: [UInt8](copying: cursor.key), as: UTF8.self)
      do throws(StoreError) {
        let row = try decode(name, cursor.value)
        floors[row.id] = row.floor
        if row.floor > last {
          problems.append(
            Problem(text: "The replay cursor \(name) is at \(row.floor), and the journal ends at \(last)."))
        }
      } catch  where error.code == .corruptRecord {
        problems.append(Problem(text: error.message))
      }
    }
    cursor = try transaction.cursor(in: acknowledgements)
    while try cursor.next() {
      let key = [UInt8](copying: cursor.key)
      guard key.count == 16, let sequence = EntryID(indexKey: key)?.rawValue else {
        problems.append(Problem(text: "A key of outbox.ack is not a cursor and a number.", acknowledgement: key))
        continue
      }
      let id = key[..<8].reduce(0) { $0 << 8 | UInt64($1) }
      if let floor = floors[id], sequence > floor, sequence <= last { continue }
      problems.append(
        Problem(
          text: "The record \(sequence) is done with ahead of its replay cursor, but not between floor and end.",
          acknowledgement: key))
    }
    return problems
  }
}
