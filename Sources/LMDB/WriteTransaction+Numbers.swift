import CLMDB

/// What a transaction knows of the keys of one database.
struct KnownNumber {
  /// Which database; 0, which is none of ours, if it knows nothing.
  var handle: MDB_dbi = 0
  var number: UInt64 = 0
}

extension WriteTransaction {
  /// The highest number among the keys of a database, if ``rememberLastNumber(_:of:)`` has told it and nothing has changed
  /// there since; so that who appends need not look for the end each time.
  package borrowing func lastNumber(of database: Database) -> UInt64? {
    known.handle == database.handle && database.owner == owner ? known.number : nil
  }

  /// Remembers the highest number among the keys of a database, until the next change of it. One database at a time.
  @_lifetime(self: copy self)
  package mutating func rememberLastNumber(_ number: UInt64, of database: Database) {
    known = KnownNumber(handle: database.handle, number: number)
  }
}
