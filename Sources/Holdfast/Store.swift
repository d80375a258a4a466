public import LMDB

/// What the app knows locally and what it still owes the server, in one LMDB environment.
///
/// State and outbox share transactions: "the user sees the change" and "the request will be sent" commit together or
/// not at all.
///
/// ```swift
/// let store = try Store.open(at: "/var/lib/app/store")
/// try store.write { transaction in
///   try store.state.update("post:42", ["hasComment": true], in: &transaction)
///   try store.outbox.enqueue(
///     OutboxRequest(kind: "comment", lane: "post:42", payload: Array("Hello".utf8)), in: &transaction)
/// }
/// ```
///
/// Thread-safe. Several processes may have the same store open; one of them drains the outbox at a time.
public final class Store: Sendable {
  /// The app's local records.
  public let state: StateStore
  /// The requests that must reach a server.
  public let outbox: Outbox
  /// The directory that holds the store.
  public var path: String { environment.path }

  let environment: Environment

  private init(_ environment: Environment, time: SystemTime, state options: StateOptions) throws(StoreError) {
    self.environment = environment
    state = try StateStore(environment, time: time, options: options)
    outbox = try Outbox(environment, time: time)
  }

  /// Opens the store in a directory, or makes a new one.
  ///
  /// Blocks for file system calls. A commit is durable when the call that made it returns: it survives the end of the
  /// process and a power cut. Opening costs the same however much is stored.
  ///
  /// - Parameters:
  ///   - path: A directory for this store alone; it is made if it is missing, its parent is not.
  ///   - isReadOnly: Opens an existing store without changing it.
  ///   - options: How the state is read and observed.
  /// - Returns: The open store. It closes when the last reference goes away, or by ``close()``.
  /// - Throws: A `StoreError` whose sentence names the path: `notFound`, `notADirectory`, `accessDenied`,
  ///   `notADatabase`, `unsupportedVersion`, `damaged`, `diskFull` or `io`; `alreadyOpen` if this process has it open in
  ///   the other mode.
  public static func open(at path: String, isReadOnly: Bool = false, state options: StateOptions = StateOptions())
    throws(StoreError) -> Store
  {
    try open(at: path, isReadOnly: isReadOnly, state: options, time: .real)
  }

  static func open(
    at path: String, isReadOnly: Bool = false, state stateOptions: StateOptions = StateOptions(), time: SystemTime,
    options: Environment.Options = Environment.Options()
  ) throws(StoreError) -> Store {
    guard !FileSystem.exists("\(path)/cache.lock") else {
      throw StoreError(
        .invalidOption, "\(path) holds a cache, which may be thrown away; give the store a directory of its own.")
    }
    var options = options
    if isReadOnly { options.mode = .readOnly }
    let environment: Environment
    do throws(StoreError) {
      environment = try Environment.open(
        at: path, databases: StateStore.databases + Outbox.databases, options: options)
    } catch  where isReadOnly && error.code == .unknownDatabase {
      throw StoreError(
        .unsupportedVersion,
        "\(path) was written by an older version, or is no store; open it for writing once to bring it up to date.")
    }
    let store = try Store(environment, time: time, state: stateOptions)
    try store.outbox.prepareLayout()
    // Also says to a cache that this directory is not for it.
    if options.mode != .readOnly { _ = try File("\(environment.path)/outbox.lock", .lock) }
    return store
  }

  /// Runs `body` on one snapshot of state and outbox.
  ///
  /// Never waits for a writer. Keep it short: the file grows while old snapshots are open.
  ///
  /// - Parameter body: Gets the snapshot.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public func read<R: ~Copyable>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
    try environment.read(body)
  }

  /// Runs `body` in the write transaction and commits its changes: all of them, or none if it throws.
  ///
  /// Blocks the thread until other writers are done and the commit is on the device. In an asynchronous function,
  /// `try await store.write` is the other one, which suspends instead of blocking; at the top level of `main.swift`
  /// swiftc 6.3 takes this one even there.
  ///
  /// - Parameter body: Makes the changes to ``state`` and ``outbox``. It must not do I/O or wait for another task. It may
  ///   run more than once, when the map has to grow, and only the changes of its last run count.
  /// - Returns: What `body` returns, after the commit.
  /// - Throws: What `body` throws, or a `StoreError` if the commit failed, in which case nothing of it happened.
  @discardableResult
  public func write<R: ~Copyable>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try environment.write(body)
  }

  /// Runs `body` in the write transaction, on the store's writer thread, and commits its changes.
  ///
  /// The writes of tasks that wait at the same time share one commit. A task that is cancelled before its write has its
  /// turn throws `CancellationError`, and nothing happened; after that, cancelling does nothing. `body` may run more than
  /// once, and only the changes of its last run count.
  ///
  /// - Parameter body: Makes the changes; it must not do I/O or wait for another task.
  /// - Returns: What `body` returns, after the commit.
  /// - Throws: What `body` throws, or a `StoreError` if the commit failed, in which case nothing of it happened;
  ///   `CancellationError`.
  @discardableResult
  public func write<R: Sendable>(_ body: @escaping @Sendable (inout WriteTransaction) throws -> R) async throws -> R {
    try await environment.write(body)
  }

  /// Closes the store, for everybody in this process who has it; without, it closes when the last reference goes away.
  ///
  /// For an app that must hold no lock while it is suspended. End drains first, and wait for them: one that still runs
  /// throws `closed`, and what it has in flight is sent again by the next. Blocks until the running transactions have
  /// ended, at most for 5 s. What begins later throws `closed`, and so do streams of changes; nothing of the session can be read any more. Closing again does nothing.
  ///
  /// - Throws: `busy` if a transaction did not end in time, after which the store is open as before.
  public func close() throws(StoreError) { try environment.close() }
}
