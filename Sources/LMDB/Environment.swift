import CLMDB
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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
/// file would corrupt it. It closes when the last reference goes away. Do not use it after `fork()`.
@safe
public final class Environment: @unchecked Sendable {
  // Sendable: `raw` is set once, and LMDB handles created with MDB_NOTLS may be used from any thread; a write
  // transaction stays on the thread that holds `writer`.

  /// The longest key in bytes; LMDB's compiled-in limit.
  public static let maximumKeyLength = 511
  /// The longest value in bytes. LMDB 0.9 cannot commit values of 2 GiB; well below that, a file is the better place.
  public static let maximumValueLength = 1 << 30

  /// The directory that holds `data.mdb` and `lock.mdb`, absolute and without symbolic links.
  public let path: String
  /// The options it was opened with; the map in force may be smaller than asked for.
  public let options: Options

  let raw: OpaquePointer
  let id: EnvironmentID
  /// The database that holds the names of the others.
  let main: Database
  private let databases: [String: Database]
  private let readers: ReaderPool
  private let writer = WriterLock()
  private let asynchronousWriter = WriterThread()
  private let handle: Registry.Handle

  init(
    _ handle: Registry.Handle, id: EnvironmentID, path: String, options: Options, main: Database,
    databases: [String: Database]
  ) {
    unsafe raw = unsafe handle.raw
    readers = unsafe ReaderPool(handle.raw, limit: options.readerLimit)
    self.handle = handle
    self.id = id
    self.path = path
    self.options = options
    self.main = main
    self.databases = databases
  }

  deinit {
    // No transaction is alive: their closures hold the environment.
    asynchronousWriter.stop()
    readers.drain()
    Registry.shared.withLock { $0.close(handle) }
  }

  /// The handle of a database that was declared when the environment was opened.
  ///
  /// - Parameter name: A declared name.
  /// - Returns: A handle that is valid for as long as the environment.
  /// - Throws: `unknownDatabase` if it was not declared.
  public func database(_ name: String) throws(StoreError) -> Database {
    guard let database = databases[name] else {
      throw StoreError(
        .unknownDatabase,
        "The database \(name) was not declared when \(path) was opened; add it to `databases`.")
    }
    return database
  }

  /// Rejects what only a writer may do.
  package func requireWritable() throws(StoreError) {
    if options.mode == .readOnly {
      throw StoreError(.readOnly, "\(path) was opened for reading; open it in another mode to write.")
    }
  }

  /// Whether a database was declared when the environment was opened.
  func isDeclared(_ name: String) -> Bool { databases[name] != nil }

  /// Runs `body` on a snapshot of the newest commit.
  ///
  /// Never waits for a writer. Reading inside a read or a write is allowed, and sees its own snapshot.
  ///
  /// - Parameter body: Gets the snapshot; keep it short, since the file grows while it is open.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `readersFull` if all reader slots are taken.
  public func read<R: ~Copyable>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
    let transaction = unsafe try readers.acquire()
    defer { unsafe readers.release(transaction) }
    return try body(unsafe ReadTransaction(transaction, owner: id))
  }

  /// Runs `body` in the write transaction and commits its changes.
  ///
  /// Blocks the thread until the other writers of all processes are done and, with ``Options/Durability/full``, until
  /// the commit is on the device. If `body` throws, nothing happened. `body` must not wait for another task, and
  /// must not write to the same environment again.
  ///
  /// - Parameter body: Makes the changes.
  /// - Returns: What `body` returns, after the commit.
  /// - Throws: What `body` throws; `nestedWrite` inside another write on this thread; `diskFull`, `mapFull`,
  ///   `io` if the commit failed, in which case nothing of it happened.
  @discardableResult
  public func write<R: ~Copyable>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try requireWritable()
    var actions: [@Sendable () -> Void] = []
    let result = try writer.run(for: path) { try commit(body, &actions) }
    for action in actions { action() }
    return result
  }

  /// Runs `body` in the write transaction on the environment's writer thread, and commits its changes.
  ///
  /// The task is suspended until the commit is durable; no thread of the cooperative pool is blocked.
  ///
  /// - Parameter body: Makes the changes, synchronously. It runs even if the task is cancelled meanwhile.
  /// - Returns: What `body` returns, after the commit.
  /// - Throws: As the synchronous ``write(_:)-(_)``.
  @discardableResult
  public func write<R: Sendable>(_ body: @escaping @Sendable (inout WriteTransaction) throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      asynchronousWriter.run {
        continuation.resume(with: Result { try self.write(body) })
      }
    }
  }

  private func commit<R: ~Copyable>(
    _ body: (inout WriteTransaction) throws -> R, _ actions: inout [@Sendable () -> Void]
  ) throws -> R {
    var pointer: OpaquePointer?
    let begun = unsafe mdb_txn_begin(raw, nil, 0, &pointer)
    guard begun == MDB_SUCCESS, let handle = unsafe pointer else {
      throw StoreError.lmdb(begun, "begin a write in \(path)")
    }
    var transaction = unsafe WriteTransaction(handle, owner: id)
    var isEnded = false
    do {
      let result = try body(&transaction)
      if let failure = transaction.failure { throw failure }
      // The handle is gone after this call, whatever it returns.
      isEnded = true
      let code = unsafe mdb_txn_commit(handle)
      guard code == MDB_SUCCESS else { throw commitFailure(code) }
      actions = transaction.commitActions
      return result
    } catch {
      if !isEnded { unsafe mdb_txn_abort(handle) }
      throw error
    }
  }

  private func commitFailure(_ code: Int32) -> StoreError {
    // LMDB reports a short write, which is what a full disk gives, as EIO.
    if code == EIO, FileSystem.isFull(path) {
      return StoreError(
        .diskFull, "The disk of \(path) is full, and nothing was written; free some space and try again.",
        underlying: code)
    }
    return .lmdb(code, "commit a write in \(path)")
  }
}
