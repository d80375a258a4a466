import CLMDB

/// An LMDB environment: named databases in one memory-mapped file, with one writer and any number of readers.
///
/// ```swift
/// let environment = try Environment.open(at: "/var/lib/app/data", databases: ["users"])
/// let users = try environment.database("users")
/// try environment.write { transaction in
///   try transaction.set([1, 2, 3], forKey: "u:1", in: users)
/// }
/// let count = try environment.read { transaction in
///   try transaction.value(forKey: "u:1", in: users)?.count
/// }
/// ```
///
/// Thread-safe. Opening the same file again in the same process gives the same environment: two LMDB handles on one
/// file would corrupt it. (On Linux, a second copy of this library in the process is refused; on Apple's systems it is
/// not noticed.) It closes when the last reference goes away, or with ``close()``. In a child made by `fork()`, every
/// call throws `forked`.
///
/// Any number of processes may have the file open, if they share a PID namespace. While it is open, nobody may remove
/// `lock.mdb`, nor open it in this process, not even to copy it: closing it again drops LMDB's locks. Use
/// ``copy(to:compact:)``. A process that limits its file sizes (`RLIMIT_FSIZE`) must ignore `SIGXFSZ`, which would kill
/// it where a write now throws `diskFull`.
public final class Environment: Sendable {
  /// The longest key in bytes; LMDB's compiled-in limit.
  public static let maximumKeyLength = 511
  /// The longest value in bytes. LMDB 0.9 cannot commit values of 2 GiB; well below that, a file is the better place.
  public static let maximumValueLength = 1 << 30

  /// The directory that holds `data.mdb` and `lock.mdb`, absolute and without symbolic links.
  public let path: String
  /// The options it was opened with; the map in force may be smaller than asked for, or have grown since.
  public let options: Options

  @usableFromInline let id: EnvironmentID
  let databases: Databases
  let snapshots: SnapshotTable
  let writer = WriterLock()
  let health = WriterHealth()
  let handle: Registry.Handle
  let asynchronousWriter = GroupWriter()
  let commitObservers = CommitObservers()

  init(_ handle: Registry.Handle, id: EnvironmentID, path: String, databases: Databases) {
    let options = handle.options
    snapshots = unsafe SnapshotTable(
      handle.raw, path: path, limit: options.readerLimit, waitLimit: options.waitLimit)
    self.handle = handle
    self.id = id
    self.path = path
    self.options = options
    self.databases = databases
  }

  deinit {
    // What a child inherited belongs to its parent.
    if snapshots.isForked { return }
    // No transaction is alive: their closures hold the environment.
    asynchronousWriter.stop()
    if !snapshots.isClosed { snapshots.drain() }
    Registry.shared.update { $0.close(handle) }
  }

  /// The handle of a database that was declared when the environment was opened.
  ///
  /// - Parameter name: A declared name.
  /// - Returns: A handle that is valid for as long as the environment.
  /// - Throws: `unknownDatabase` if it was not declared.
  public func database(_ name: String) throws(StoreError) -> Database {
    guard let database = databases.declared[name] else {
      throw StoreError(
        .unknownDatabase,
        "The database \(name) was not declared when \(path) was opened; add it to `databases`.")
    }
    return database
  }

  /// Runs `body` on a snapshot of the newest commit.
  ///
  /// Never waits for a writer, except to follow another process that has grown the file beyond this one's map. Waits
  /// up to ``Options/waitLimit`` for a free reader slot. Reading inside a read or a write is allowed, and sees its own
  /// snapshot.
  ///
  /// - Parameter body: Gets the snapshot; keep it short, since the file grows while it is open.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `readersFull` if no reader slot becomes free; `closed`, `poisoned` or `forked`.
  @inlinable
  public func read<R: ~Copyable>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
    let snapshot = try snapshot()
    defer { release(snapshot) }
    return try body(unsafe ReadTransaction(snapshot.transaction, owner: id))
  }

  /// A snapshot of the newest commit; give it back.
  @usableFromInline
  func snapshot() throws(StoreError) -> SnapshotTable.Snapshot {
    if let snapshot = snapshots.acquire() { snapshot } else { try snapshotAfterWaiting() }
  }

  @usableFromInline
  func release(_ snapshot: SnapshotTable.Snapshot) { snapshots.release(snapshot) }

  @inline(never)
  private func snapshotAfterWaiting() throws(StoreError) -> SnapshotTable.Snapshot {
    while true {
      if let snapshot = try snapshots.acquireSlowly() { return snapshot }
      try adoptGrowth()
    }
  }

  /// Waits until everything committed so far is on the storage device.
  ///
  /// Blocks for the writer that is at work, and for the flush. With ``Options/Durability/full`` it has nothing to do
  /// that a commit has not done.
  ///
  /// - Throws: `io` if the device refused, after which the environment is poisoned; `closed`, `poisoned` or `forked`.
  public func sync() throws(StoreError) {
    guard options.mode != .readOnly else { return }
    try snapshots.checkUsable()
    try writer.lock(for: path)
    defer { writer.unlock() }
    try snapshots.checkUsable()
    var code = unsafe mdb_env_sync(snapshots.raw, 1)
    if code == MDB_SUCCESS { code = handle.flushDriveCache() }
    guard code == MDB_SUCCESS else {
      // The kernel may have dropped the pages, so that the next flush would succeed without them.
      snapshots.poison(because: "a flush failed", code)
      throw .lmdb(code, "flush \(path)")
    }
  }

  /// Closes the environment, for everybody in this process who has it.
  ///
  /// Blocks until the running transactions have ended, at most for ``Options/waitLimit``; writes that tasks have
  /// queued and transactions that begin later throw `closed`. Closing again does nothing.
  ///
  /// - Throws: `busy` if a transaction did not end in time or runs on this thread, after which the environment is open
  ///   as before; `forked`.
  public func close() throws(StoreError) {
    if snapshots.isForked { try snapshots.checkUsable() }
    do {
      try writer.lock(for: path, atMost: options.waitLimit)
    } catch {
      throw StoreError(.busy, "\(path) cannot be closed while a write runs; close it after that.")
    }
    defer { writer.unlock() }
    if snapshots.isClosed { return }
    let isAlone = try snapshots.withoutReaders(atMost: options.waitLimit) { () throws(StoreError) in
      snapshots.drain()
      snapshots.end(
        SnapshotTable.Barrier.closed, StoreError(.closed, "\(path) has been closed; open it again to use it."))
    }
    guard isAlone else {
      throw StoreError(
        .busy, "\(path) cannot be closed: there are \(snapshots.openSnapshotsText); close it once they have ended.")
    }
    Registry.shared.update { $0.close(handle) }
  }
}
