import CLMDB

/// What a transaction knows of the rows of one database.
struct KnownNumber {
  /// Which database; 0, which is none of ours, if it knows nothing.
  var handle: MDB_dbi = 0
  var numbers: (UInt64, UInt64) = (0, 0)
}

extension WriteTransaction {
  /// What ``remember(_:of:)`` was told of a database, if nothing has changed there since: such as its highest number, so
  /// that who appends need not look for the end each time.
  package borrowing func remembered(of database: Database) -> (UInt64, UInt64)? {
    known.handle == database.handle && database.owner == owner ? known.numbers : nil
  }

  /// Remembers two numbers that say something of a database, until the next change of it. One database at a time.
  @_lifetime(self: copy self)
  package mutating func remember(_ numbers: (UInt64, UInt64), of database: Database) {
    known = KnownNumber(handle: database.handle, numbers: numbers)
  }
}
