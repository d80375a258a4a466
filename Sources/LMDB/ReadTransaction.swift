import CLMDB

/// One snapshot of an environment, for the length of a closure.
///
/// Every read in it sees the same commit, whatever other threads and processes write meanwhile. Reads take no
/// lock that a writer holds. A value is a span into the mapped file, without a copy; the compiler keeps it inside
/// the transaction. Keep the closure short: pages that the snapshot still sees cannot be reused, so the file grows.
@safe
public struct ReadTransaction: ~Copyable, ~Escapable {
  let raw: OpaquePointer
  let owner: EnvironmentID
  /// Whether all pages are those of the file; a write transaction has its new ones in memory that the system allots.
  let isSnapshot: Bool

  @usableFromInline
  @_lifetime(immortal)
  init(_ raw: OpaquePointer, owner: EnvironmentID, isSnapshot: Bool = true) {
    unsafe self.raw = unsafe raw
    self.owner = owner
    self.isSnapshot = isSnapshot
  }

  /// The value stored under a key, or `nil`.
  ///
  /// Costs one walk down the tree and copies nothing.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes.
  ///   - database: A database of the same environment.
  /// - Returns: The bytes in the mapped file, valid until the transaction ends. They are not aligned.
  /// - Throws: `invalidKey` for an empty or too long key, `damaged` if a page is broken.
  @_lifetime(borrow self)
  public borrowing func value(
    forKey key: borrowing Span<UInt8>, in database: Database
  ) throws(StoreError) -> Span<UInt8>? {
    guard let found = unsafe try get(raw, owner, database, key) else { return nil }
    let span = unsafe Span(_unsafeElements: found)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// A cursor over the keys of a range.
  ///
  /// - Parameters:
  ///   - database: A database of the same environment.
  ///   - range: The keys to visit.
  /// - Returns: A cursor before the first key of the range; it cannot leave the transaction.
  /// - Throws: `damaged` or `io` if LMDB cannot open a cursor.
  @_lifetime(borrow self)
  public borrowing func cursor(in database: Database, over range: KeyRange = .all) throws(StoreError) -> Cursor {
    let cursor = unsafe try Cursor(raw, owner, database, over: range, isSnapshot: isSnapshot)
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// How many keys a database has; LMDB keeps the number, so nothing is counted.
  ///
  /// - Parameter database: A database of the same environment.
  /// - Returns: The number of keys.
  /// - Throws: `damaged` if LMDB cannot tell.
  public borrowing func count(of database: Database) throws(StoreError) -> Int {
    precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
    var statistics = MDB_stat()
    let code = unsafe mdb_stat(raw, database.handle, &statistics)
    guard code == MDB_SUCCESS else { throw .lmdb(code, "count the keys of \(database.name)") }
    return statistics.ms_entries
  }
}
