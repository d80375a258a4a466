import CLMDB

extension ReadTransaction {
  /// Reads many keys in one pass of one cursor.
  ///
  /// With keys in order, in either direction, one that lies next to the one before costs a step (about 140
  /// instructions) instead of a walk down the tree (about 1,700). Keys that lie far apart cost what single reads cost.
  /// Out of order, the results are the same and the gain is lost.
  ///
  /// - Parameters:
  ///   - keys: Each 1 to ``Environment/maximumKeyLength`` bytes, best in order.
  ///   - database: A database of the same environment.
  ///   - body: Gets the index of each key, in order, and its value or `nil`. The value is valid until `body` returns.
  /// - Throws: What `body` throws; `invalidKey` for a wrong length; `damaged` if a page is broken.
  public borrowing func values(
    forKeys keys: [[UInt8]], in database: Database, _ body: (_ index: Int, _ value: Span<UInt8>?) throws -> Void
  ) throws {
    precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
    var cursor: OpaquePointer?
    let code = unsafe mdb_cursor_open(raw, database.handle, &cursor)
    guard code == MDB_SUCCESS else { throw StoreError.lmdb(code, "open a cursor on \(database.name)") }
    defer { unsafe mdb_cursor_close(cursor) }
    var search = unsafe NeighbourSearch(self, database.handle, cursor, isRising: true)
    let keys = keys.span
    for index in keys.indices {
      try checkLength(keys[index].span, database)
      let code = search.find(keys[index].span)
      switch code {
      case MDB_SUCCESS: try body(index, unsafe Span(_unsafeElements: search.value.bytes))
      case MDB_NOTFOUND: try body(index, nil)
      default: throw StoreError.lmdb(code, "read keys of \(database.name)")
      }
    }
  }
}
