import CLMDB

extension Environment {
  /// How large a database is, and how its tree is built.
  public struct Statistics: Sendable, Hashable {
    /// How many keys it holds.
    public let entries: Int
    /// How many pages lie on the way to a key.
    public let depth: Int
    /// The pages that only lead to others.
    public let branchPages: Int
    /// The pages that hold keys and small values.
    public let leafPages: Int
    /// The pages that hold values larger than about half a page.
    public let overflowPages: Int

    /// All of its pages.
    public var pages: Int { branchPages + leafPages + overflowPages }
  }

  /// One reader slot that has a snapshot open.
  public struct Reader: Sendable, Hashable {
    /// The process that holds it.
    public let processID: Int
    /// The commit it sees.
    public let transactionID: Int
    /// How many commits are newer. Pages freed in them cannot be used again while the snapshot is open.
    public let lag: Int
  }

  /// The state of the file and of its readers.
  public struct Info: Sendable, Hashable {
    /// The size of the map in bytes.
    public let mapSize: Int
    /// The size of a page in bytes.
    public let pageSize: Int
    /// The pages in use or free, up to the last one that was ever used. The file has as many or, where free ones at its
    /// end were never written, fewer.
    public let usedPages: Int
    /// Those of them that were freed and will be used again.
    public let freePages: Int
    /// The number of the newest commit: one more with each commit that changes something, in whatever process. It does
    /// not go back, not even over ``Environment/compact()``, which may skip some.
    public let lastTransactionID: Int
    /// The open snapshots of all processes.
    public let readers: [Reader]

    /// How many commits the oldest open snapshot is behind; zero without snapshots. If it keeps rising, somebody
    /// holds a snapshot, and the file grows.
    public var oldestReaderLag: Int { readers.map(\.lag).max() ?? 0 }
  }

  /// The size of a database in the newest commit. Costs as much as a short read.
  ///
  /// - Parameter database: A database of this environment.
  /// - Returns: Its figures, which LMDB keeps up to date.
  /// - Throws: As ``read(_:)``.
  public func statistics(of database: Database) throws(StoreError) -> Statistics {
    precondition(database.owner == id, "The database belongs to another environment.")
    return unsafe try withSnapshot { (transaction) throws(StoreError) in
      unsafe try Statistics(of: database.handle, in: transaction)
    }
  }

  /// The state of the file and of its readers.
  ///
  /// Blocks for the reader table, which LMDB prints, and for a walk over the list of free pages.
  ///
  /// - Returns: The figures; while others commit, they may belong to commits next to each other.
  /// - Throws: As ``read(_:)``; `damaged` if the list of free pages is broken.
  public func info() throws(StoreError) -> Info {
    unsafe try withSnapshot { (transaction) throws(StoreError) in
      var info = unsafe MDB_envinfo()
      unsafe mdb_env_info(mdb_txn_env(transaction), &info)
      let last = unsafe info.me_last_txnid
      let freePages = unsafe try freePages(in: transaction)
      // So that this call is not among the readers; a second reset, when the snapshot ends, does nothing.
      unsafe mdb_txn_reset(transaction)
      let readers = unsafe try openReaders(of: mdb_txn_env(transaction))
      return unsafe Info(
        mapSize: info.me_mapsize, pageSize: handle.pageSize, usedPages: info.me_last_pgno + 1, freePages: freePages,
        lastTransactionID: last,
        readers: readers.map { pid, id in Reader(processID: pid, transactionID: id, lag: max(0, last - id)) })
    }
  }

  /// The names of all databases in the file, declared or not, in the order of their bytes.
  ///
  /// To look into a file of which nothing is known, open it with `databases: []` and ``Options/Mode/readOnly``, and
  /// open it again with the names.
  ///
  /// - Throws: As ``read(_:)``; `damaged` if the main database is broken.
  public func databaseNames() throws(StoreError) -> [String] {
    unsafe try withSnapshot { (transaction) throws(StoreError) in unsafe try records(in: transaction).map(\.name) }
  }

  /// The sizes of all databases in the file, declared or not, in the order of the bytes of their names.
  ///
  /// - Returns: The databases of one snapshot.
  /// - Throws: As ``databaseNames()``.
  public func databaseStatistics() throws(StoreError) -> [(name: String, statistics: Statistics)] {
    unsafe try withSnapshot { (transaction) throws(StoreError) in unsafe try records(in: transaction) }
  }

  /// Runs `body` with the LMDB transaction of a snapshot.
  func withSnapshot<R>(_ body: (OpaquePointer) throws(StoreError) -> R) throws(StoreError) -> R {
    let snapshot = try snapshot()
    defer { snapshots.release(snapshot) }
    return unsafe try body(snapshot.transaction)
  }

  /// The databases of a snapshot, as the main database records them.
  @unsafe
  func records(in transaction: OpaquePointer) throws(StoreError) -> [(name: String, statistics: Statistics)] {
    var found: [(String, Statistics)] = []
    unsafe try forEach(of: Database(name: "the main database", handle: 1, owner: id), in: transaction) { key, value in
      // What else somebody may have stored there has another length, or no business there.
      if let statistics = Statistics(record: value) {
        found.append((String(decoding: [UInt8](copying: key), as: UTF8.self), statistics))
      }
    }
    return found
  }

  /// The keys of the main database, most of which are the names of others.
  @unsafe
  func mainKeys(in transaction: OpaquePointer) throws(StoreError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    unsafe try forEach(of: Database(name: "the main database", handle: 1, owner: id), in: transaction) { key, _ in
      keys.append([UInt8](copying: key))
    }
    return keys
  }

  /// How many pages the list of free pages names.
  @unsafe
  func freePages(in transaction: OpaquePointer) throws(StoreError) -> Int {
    var pages = 0
    unsafe try forEach(of: Database(name: "the list of free pages", handle: 0, owner: id), in: transaction) {
      _, value in
      pages += value.word(at: 0)
    }
    return pages
  }

  /// Visits every key, in LMDB's order, which is not that of ``KeyRange`` for the list of free pages.
  @unsafe
  private func forEach(
    of database: Database, in transaction: OpaquePointer, _ body: (Span<UInt8>, Span<UInt8>) -> Void
  ) throws(StoreError) {
    var cursor = unsafe try Cursor(transaction, id, database, over: .all)
    while try cursor.next() { body(cursor.key, cursor.value) }
  }

  /// The process and the transaction of each open snapshot, from the table that LMDB prints: process, thread and
  /// transaction, which is `-` for an idle slot.
  @unsafe
  private func openReaders(of raw: OpaquePointer) throws(StoreError) -> [(Int, Int)] {
    var text = ""
    let code = unsafe withUnsafeMutablePointer(to: &text) { pointer in
      unsafe mdb_reader_list(
        raw,
        { line, context in
          guard let line = unsafe line, let context = unsafe context else { return 0 }
          unsafe context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
          return 0
        }, pointer)
    }
    guard code >= 0 else { throw .lmdb(code, "list the readers of \(path)") }
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count == 3, let process = Int(fields[0]), let transaction = Int(fields[2]) else { return nil }
      return (process, transaction)
    }
  }
}

extension Environment.Statistics {
  /// What LMDB says of an open database.
  @unsafe
  init(of handle: MDB_dbi, in transaction: OpaquePointer) throws(StoreError) {
    var stat = MDB_stat()
    let code = unsafe mdb_stat(transaction, handle, &stat)
    guard code == MDB_SUCCESS else { throw .lmdb(code, "examine a database") }
    entries = stat.ms_entries
    depth = Int(stat.ms_depth)
    branchPages = stat.ms_branch_pages
    leafPages = stat.ms_leaf_pages
    overflowPages = stat.ms_overflow_pages
  }

  /// What the main database records of one: LMDB 0.9's `MDB_db`, whose depth is at 6 and its counts from 8 on.
  init?(record: Span<UInt8>) {
    guard record.count == 48 else { return nil }
    depth = Int(record[6]) | Int(record[7]) << 8
    branchPages = record.word(at: 8)
    leafPages = record.word(at: 16)
    overflowPages = record.word(at: 24)
    entries = record.word(at: 32)
  }
}

extension Span<UInt8> {
  /// Eight bytes in the machine's order, as LMDB writes its numbers.
  func word(at offset: Int) -> Int {
    unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: Int.self) }
  }
}
