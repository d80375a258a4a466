import CLMDB

extension WriteTransaction {
  /// Stores two pieces as one value, without joining them in memory first.
  ///
  /// - Parameters:
  ///   - head: The start of the value.
  ///   - rest: What follows it.
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes.
  ///   - database: A database of the same environment.
  /// - Throws: As ``set(_:forKey:in:)-(Span<UInt8>,Span<UInt8>,_)``.
  @_lifetime(self: copy self)
  package mutating func set(
    _ head: borrowing Span<UInt8>, followedBy rest: borrowing Span<UInt8>, forKey key: borrowing Span<UInt8>,
    in database: Database
  ) throws(StoreError) {
    try check(key, database, owner)
    let length = head.count + rest.count
    guard length <= Environment.maximumValueLength else {
      throw StoreError(
        .invalidValue,
        "A value of \(length) bytes for \(database.name) is over the limit of \(Environment.maximumValueLength); keep "
          + "large data in a file.")
    }
    var value = unsafe MDB_val(mv_size: length, mv_data: nil)
    let cursor = unsafe cursor(changing: database)
    let code = unsafe key.withUnsafeBytes { keyBytes in
      var mdbKey = unsafe MDB_val(keyBytes)
      return unsafe put(raw, cursor, database, &mdbKey, &value, MDB_RESERVE)
    }
    if code == MDB_SUCCESS, let start = unsafe value.mv_data {
      let target = unsafe UnsafeMutableRawBufferPointer(start: start, count: length)
      unsafe head.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      unsafe rest.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[head.count...]).copyMemory(from: $0)
      }
    }
    try finishSet(code, key.count + length, database)
  }

  /// Removes every key of a database at once, by giving its pages back: costs a step a page, none a key.
  ///
  /// - Parameter database: A database of the same environment.
  /// - Throws: What LMDB refuses, which dooms the transaction.
  @_lifetime(self: copy self)
  package mutating func removeEverything(in database: Database) throws(StoreError) {
    precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
    closeCursors()
    _ = try finishRemoval(unsafe mdb_drop(raw, database.handle, 0), 1, database)
  }
}
