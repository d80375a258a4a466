import CLMDB

/// What is done after a commit. In a structure of its own, since an array of closures allocates a second one for each.
struct CommitAction: Sendable {
  let run: @Sendable () -> Void
}

/// The one write transaction of an environment, for the length of a closure.
///
/// It sees its own changes; nobody else does before the commit, which happens when the closure returns. If the
/// closure throws, nothing of it happened. A value read from it is valid until the next change: the compiler
/// rejects a change while such a span is alive.
@safe
public struct WriteTransaction: ~Copyable, ~Escapable {
  let raw: OpaquePointer
  let owner: EnvironmentID
  /// The first failure after which LMDB refuses to commit; it wins over what the closure makes of it.
  var failure: StoreError?
  /// The bytes of the keys and values it has stored, and of the keys it has removed, with what LMDB needs around them.
  var changedBytes = 0
  /// Whether it may have the room that is kept for the end, as what frees room in turn must.
  package var mayUseReserve = false
  /// Whether LMDB has refused something for good: the transaction will not commit.
  package var isDoomed: Bool { failure != nil }
  var cursors = WriteCursors()
  /// Where the next number of a database is, for who appends to it.
  var known = KnownNumber()
  /// What the layer above remembers of this transaction, such as when it began. A nested one begins with it, and what it
  /// puts here stays if it is kept.
  package var memo: AnyObject?
  /// What to do once the commit has happened, outside every lock.
  var commitActions: [CommitAction] = []

  @_lifetime(immortal)
  init(_ raw: OpaquePointer, owner: EnvironmentID) {
    unsafe self.raw = unsafe raw
    self.owner = owner
  }

  /// The transaction as a reader: what takes a ``ReadTransaction`` also works inside a write.
  ///
  /// It sees the changes made so far, and must be gone before the next one.
  public var reader: ReadTransaction {
    @_lifetime(borrow self)
    borrowing get {
      let view = unsafe ReadTransaction(raw, owner: owner, isSnapshot: false)
      return unsafe _overrideLifetime(view, borrowing: self)
    }
  }

  /// The value stored under a key, or `nil`; valid until the next change in this transaction.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes.
  ///   - database: A database of the same environment.
  /// - Returns: The bytes in the mapped file. They are not aligned.
  /// - Throws: `invalidKey` for an empty or too long key, `damaged` if a page is broken.
  @_lifetime(borrow self)
  public borrowing func value(
    forKey key: borrowing Span<UInt8>, in database: Database
  ) throws(StoreError) -> Span<UInt8>? {
    guard let found = unsafe try get(raw, owner, database, key) else { return nil }
    let span = unsafe Span(_unsafeElements: found)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Stores a value under a key, replacing the one that is there.
  ///
  /// A value of more than half a page lies in pages of its own that follow each other. Where many small gaps are free,
  /// LMDB searches their list for a run in each transaction: with 100,000 free pages from values of 3 KB, one value of
  /// 64 KiB took 4 ms, one of 50 in a transaction 0.4 ms, and its bytes in pieces of a page 0.07 ms (`ChurnTests`).
  ///
  /// - Parameters:
  ///   - value: 0 to ``Environment/maximumValueLength`` bytes.
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes.
  ///   - database: A database of the same environment.
  /// - Throws: `invalidKey` or `invalidValue` for a wrong length, after which the transaction goes on; anything
  ///   else dooms the transaction: it will not commit even if the error is caught.
  @_lifetime(self: copy self)
  public mutating func set(
    _ value: borrowing Span<UInt8>, forKey key: borrowing Span<UInt8>, in database: Database
  ) throws(StoreError) {
    try check(key, database, owner)
    try check(value, database)
    let cursor = unsafe cursor(changing: database)
    try finishSet(unsafe put(raw, cursor, database, key, value), key.count + value.count, database)
  }

  /// Removes a key and its value.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes.
  ///   - database: A database of the same environment.
  /// - Returns: Whether the key was there.
  /// - Throws: `invalidKey` for a wrong length, after which the transaction goes on; anything else dooms it.
  @discardableResult
  @_lifetime(self: copy self)
  public mutating func removeValue(
    forKey key: borrowing Span<UInt8>, in database: Database
  ) throws(StoreError) -> Bool {
    try check(key, database, owner)
    let cursor = unsafe cursor(changing: database)
    return try finishRemoval(unsafe delete(raw, cursor, database, key), key.count, database)
  }

  /// Removes every key of a range.
  ///
  /// Works in batches of 1,000 keys, so that memory does not grow with the range.
  ///
  /// - Parameters:
  ///   - range: The keys to remove.
  ///   - database: A database of the same environment.
  /// - Returns: How many there were.
  /// - Throws: As ``removeValue(forKey:in:)-(Span<UInt8>,_)``.
  @discardableResult
  @_lifetime(self: copy self)
  public mutating func removeAll(_ range: KeyRange = .all, in database: Database) throws(StoreError) -> Int {
    var removed = 0
    while true {
      // LMDB's cursors are not safe to walk while they delete, so: collect, delete, look again.
      let batch = try keys(of: range, in: database, limit: 1000)
      for key in batch { try removeValue(forKey: key.span, in: database) }
      removed += batch.count
      if batch.count < 1000 { return removed }
    }
  }

  /// A cursor over the keys of a range; while it is alive, the transaction cannot be changed.
  ///
  /// - Parameters:
  ///   - database: A database of the same environment.
  ///   - range: The keys to visit.
  /// - Returns: A cursor before the first key of the range.
  /// - Throws: `damaged` or `io` if LMDB cannot open a cursor.
  @_lifetime(borrow self)
  public borrowing func cursor(in database: Database, over range: KeyRange = .all) throws(StoreError) -> Cursor {
    let cursor = unsafe try Cursor(raw, owner, database, over: range, isSnapshot: false)
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// Runs changes that can be taken back on their own: if `body` throws, its changes are gone and the transaction
  /// goes on without them.
  ///
  /// Costs about 0.2 µs. Nothing becomes durable before the outer transaction commits.
  ///
  /// - Parameter body: The changes; it gets the nested transaction.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or a ``StoreError`` if LMDB could not keep the changes.
  @_lifetime(self: copy self)
  public mutating func nested<R: ~Copyable>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    if let failure { throw failure }
    closeCursors()
    var pointer: OpaquePointer?
    let begun = unsafe mdb_txn_begin(mdb_txn_env(raw), raw, 0, &pointer)
    guard begun == MDB_SUCCESS, let child = unsafe pointer else {
      throw doomed(by: begun, "begin a nested transaction")
    }
    var transaction = unsafe WriteTransaction(child, owner: owner)
    transaction.changedBytes = changedBytes
    transaction.mayUseReserve = mayUseReserve
    transaction.known = known
    transaction.memo = memo
    var isEnded = false
    do {
      let result = try body(&transaction)
      if let failure = transaction.failure { throw failure }
      // The handle is gone after this call, whatever it returns.
      isEnded = true
      transaction.closeCursors()
      let code = unsafe mdb_txn_commit(child)
      guard code == MDB_SUCCESS else { throw doomed(by: code, "commit a nested transaction") }
      commitActions += transaction.commitActions
      changedBytes = transaction.changedBytes
      known = transaction.known
      memo = transaction.memo
      return result
    } catch {
      if !isEnded {
        transaction.closeCursors()
        unsafe mdb_txn_abort(child)
      }
      // A full map or a broken page does not get better in the outer transaction.
      if failure == nil { failure = transaction.failure }
      throw error
    }
  }

  /// Has `action` run after this transaction has committed, on the committing thread and outside every lock.
  ///
  /// It does not run if the transaction, or the nested one it was asked for in, is taken back.
  ///
  /// - Parameter action: Short and non-blocking, such as waking a task.
  @_lifetime(self: copy self)
  public mutating func afterCommit(_ action: @escaping @Sendable () -> Void) {
    commitActions.append(CommitAction(run: action))
  }

  /// The cursor for a change, if it is worth one.
  @unsafe
  @_lifetime(self: copy self)
  mutating func cursor(changing database: Database) -> OpaquePointer? {
    unsafe cursors.next(for: database.handle, in: raw)
  }

  /// Lets go of what LMDB ties to the transaction, which is about to end.
  @_lifetime(self: copy self)
  mutating func closeCursors() { cursors.close() }

  /// What follows the put of a value.
  @_lifetime(self: copy self)
  mutating func finishSet(_ code: Int32, _ bytes: Int, _ database: Database) throws(StoreError) {
    // A row of more than half a page has pages of its own; others have a header, in pages that are two thirds full.
    let page = AddressSpace.page
    changedBytes += bytes > page / 2 ? (bytes + page) / page * page : (bytes + 10) * 3 / 2
    if known.handle == database.handle { known = KnownNumber() }
    if code != MDB_SUCCESS { throw doomed(by: code, "store a value in \(database.name)") }
  }

  /// What follows a removal.
  @_lifetime(self: copy self)
  mutating func finishRemoval(_ code: Int32, _ bytes: Int, _ database: Database) throws(StoreError) -> Bool {
    if code == MDB_NOTFOUND { return false }
    changedBytes += bytes
    if known.handle == database.handle { known = KnownNumber() }
    if code != MDB_SUCCESS { throw doomed(by: code, "remove a key from \(database.name)") }
    return true
  }

  private borrowing func keys(
    of range: KeyRange, in database: Database, limit: Int
  ) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var cursor = try cursor(in: database, over: range)
    while found.count < limit, try cursor.next() { found.append([UInt8](copying: cursor.key)) }
    return found
  }

  /// Records a failure after which LMDB refuses to commit.
  @_lifetime(self: copy self)
  private mutating func doomed(by code: Int32, _ operation: String) -> StoreError {
    let error = StoreError.lmdb(code, operation)
    if failure == nil { failure = error }
    return error
  }
}
