import CLMDB
import Synchronization

extension Environment {
  /// Sizes and numbers of an environment at one moment.
  public struct Information: Sendable, Hashable {
    /// The size of this process's map in bytes.
    public let mapSize: Int
    /// The size of a page in bytes.
    public let pageSize: Int
    /// How many pages the file has, the free ones included.
    public let pageCount: Int
    /// The number of the last commit.
    public let lastTransactionID: Int
    /// How many reader slots have been taken, over all processes.
    public let readerSlots: Int
    /// How many reader slots there are.
    public let readerLimit: Int
  }

  /// One database of the file, declared or not.
  public struct DatabaseStatistics: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// How many keys it has.
    public let entries: Int
    /// How many levels the tree has.
    public let depth: Int
    /// How many pages hold only keys and page numbers.
    public let branchPages: Int
    /// How many pages hold keys and values.
    public let leafPages: Int
    /// How many pages hold values that are larger than half a page.
    public let overflowPages: Int
    /// Whether it has several values a key, or another of LMDB's flags that this library does not use.
    public let hasFlags: Bool
  }

  /// Sizes and numbers of the environment now.
  ///
  /// - Returns: The numbers, which other processes may be changing.
  /// - Throws: `io` if LMDB cannot tell.
  public func information() throws(StoreError) -> Information {
    var info = unsafe MDB_envinfo()
    var statistics = MDB_stat()
    var code = unsafe mdb_env_info(raw, &info)
    if code == MDB_SUCCESS { code = unsafe mdb_env_stat(raw, &statistics) }
    guard code == MDB_SUCCESS else { throw .lmdb(code, "cannot examine \(path)") }
    return unsafe Information(
      mapSize: info.me_mapsize, pageSize: Int(statistics.ms_psize), pageCount: info.me_last_pgno + 1,
      lastTransactionID: info.me_last_txnid, readerSlots: Int(info.me_numreaders),
      readerLimit: Int(info.me_maxreaders))
  }

  /// Every named database of the file, those that were not declared included, by name.
  ///
  /// Records that lie in the main database itself, as other programs may keep them there, are left out.
  ///
  /// - Returns: The databases, of one snapshot.
  /// - Throws: `damaged` if a page is broken.
  public func databaseStatistics() throws -> [DatabaseStatistics] {
    // Opening a handle is the one thing that LMDB cannot do in two transactions at once.
    try Registry.shared.withLock { _ in
      try read { transaction in
        var found: [DatabaseStatistics] = []
        var cursor = try transaction.cursor(in: main)
        while try cursor.next() {
          let name = String(decoding: [UInt8](copying: cursor.key), as: UTF8.self)
          if let statistics = unsafe try statistics(ofDatabase: name, transaction.raw) { found.append(statistics) }
        }
        return found
      }
    }
  }

  private func statistics(
    ofDatabase name: String, _ transaction: OpaquePointer
  ) throws(StoreError) -> DatabaseStatistics? {
    if name.utf8.contains(0) { return nil }
    var handle: MDB_dbi = 0
    var flags: UInt32 = 0
    var numbers = MDB_stat()
    var code = unsafe mdb_dbi_open(transaction, name, 0, &handle)
    // A plain record of the main database.
    if code == MDB_INCOMPATIBLE { return nil }
    if code == MDB_SUCCESS { code = unsafe mdb_stat(transaction, handle, &numbers) }
    if code == MDB_SUCCESS { code = unsafe mdb_dbi_flags(transaction, handle, &flags) }
    guard code == MDB_SUCCESS else { throw .lmdb(code, "cannot examine the database \(name) of \(path)") }
    if !isDeclared(name) { unsafe mdb_dbi_close(raw, handle) }
    return DatabaseStatistics(
      name: name, entries: numbers.ms_entries, depth: Int(numbers.ms_depth), branchPages: numbers.ms_branch_pages,
      leafPages: numbers.ms_leaf_pages, overflowPages: numbers.ms_overflow_pages, hasFlags: flags != 0)
  }
}
