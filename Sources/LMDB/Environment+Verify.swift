import CLMDB

extension Environment {
  /// Walks everything that the newest commit holds and checks that it hangs together.
  ///
  /// For every database, declared or not, except those that other software made with an order of its own: keys of a
  /// legal size, each above the one before, and as many as LMDB counts. For the file: as many pages as the databases
  /// say they have, and the list of free ones names, are in use; left out if a commit comes in between. Reads every
  /// key and the pages that lead to it; blocks for that long and holds a snapshot meanwhile. Values have no checksums
  /// here and are not looked at, so that a wrong byte inside one is not seen.
  ///
  /// - Throws: `damaged`, naming the database and what is wrong with it; as ``read(_:)`` otherwise.
  public func verify() throws(StoreError) {
    unsafe try withSnapshot { (transaction) throws(StoreError) in
      for database in databases.all { unsafe try verify(database, in: transaction) }
      unsafe try verifyPages(in: transaction)
    }
  }

  @unsafe
  private func verify(_ database: Database, in transaction: OpaquePointer) throws(StoreError) {
    let expected = unsafe try Statistics(of: database.handle, in: transaction).entries
    var cursor = unsafe try Cursor(transaction, id, database, over: .all)
    var previous: [UInt8] = []
    var count = 0
    while try cursor.next() {
      let key = cursor.key
      guard (1...Self.maximumKeyLength).contains(key.count), key.compare(previous.span) > 0 else {
        throw damaged("key \(count) of \(database.name) is not above the one before it")
      }
      previous = [UInt8](copying: key)
      count += 1
    }
    guard count == expected else { throw damaged("\(database.name) has \(count) of its \(expected) keys") }
  }

  @unsafe
  private func verifyPages(in transaction: OpaquePointer) throws(StoreError) {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(mdb_txn_env(transaction), &info)
    // A commit since the snapshot began has its own count.
    guard unsafe info.me_last_txnid == mdb_txn_id(transaction) else { return }
    let headers = 2
    let main = unsafe try Statistics(of: 1, in: transaction).pages
    let free = unsafe try Statistics(of: 0, in: transaction).pages + freePages(in: transaction)
    let named = unsafe try records(in: transaction).reduce(0) { $0 + $1.statistics.pages }
    let used = unsafe info.me_last_pgno + 1
    guard headers + main + free + named == used else {
      throw damaged("\(used) pages are in use, but \(headers + main + named) belong to databases and \(free) are free")
    }
  }

  private func damaged(_ what: String) -> StoreError {
    StoreError(.damaged, "\(path) is damaged: \(what); keep the file and restore a copy.")
  }
}
