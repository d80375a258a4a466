import LMDB

/// A database of named numbers: counters and the version of a layout.
struct MetaTable: Sendable {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// The number under a name; zero if there is none.
  func value(_ name: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    guard let bytes = try transaction.value(forKey: name, in: database) else { return 0 }
    do throws(Malformed) {
      return try bytes.load(UInt64.self, at: 0)
    } catch {
      throw StoreError(
        .corruptRecord, "The number \(name) in \(database.name) cannot be read: \(error.reason); restore a copy.")
    }
  }

  func set(_ name: String, to value: UInt64, in transaction: inout WriteTransaction) throws(StoreError) {
    var bytes = ShortBytes()
    bytes.append(value)
    try transaction.set(bytes, forKey: name, in: database)
  }

  /// Adds one, inside the transaction: numbers are given in the order of commits, without gaps.
  func increment(_ name: String, in transaction: inout WriteTransaction) throws(StoreError) -> UInt64 {
    let value = try next(name, in: transaction.reader)
    try set(name, to: value, in: &transaction)
    return value
  }

  /// The number after the one under a name.
  func next(_ name: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    let last = try value(name, in: transaction)
    guard last < .max else {
      throw StoreError(
        .corruptRecord,
        "The number \(name) in \(database.name) cannot be right: it is the highest there is; restore a copy.")
    }
    return last + 1
  }
}
