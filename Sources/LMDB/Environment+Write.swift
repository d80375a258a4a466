import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// Runs `body` in the write transaction and commits its changes.
  ///
  /// Blocks the thread until the other writers of all processes are done and, with ``Options/Durability/full``, until
  /// the commit is on the device. If `body` throws, nothing happened. `body` must not wait for another task, and
  /// must not write to the same environment again.
  ///
  /// **`body` may run more than once**: when the map turns out to be too small, its changes are taken back, the map
  /// grows, and it starts again. So what it does outside the transaction must bear repeating.
  ///
  /// - Parameters:
  ///   - durability: When this commit is durable; `nil` is what the environment was opened with. A full commit also
  ///     makes those before it durable. ``Options/Durability/unsafeNoSync`` is refused unless the environment has it,
  ///     since it would endanger the other commits.
  ///   - body: Makes the changes.
  /// - Returns: What `body` returns, after the commit.
  /// - Throws: What `body` throws; `nestedWrite` inside another write on this thread; `diskFull`, `mapFull` or
  ///   `transactionFull` if the commit failed, in which case nothing of it happened; `io` if the device failed, after
  ///   which the environment is poisoned and the commit may or may not be found; `closed`, `poisoned` or `forked`.
  @discardableResult
  public func write<R: ~Copyable>(
    durability: Options.Durability? = nil, _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    try checkWritable(durability)
    try writer.lock(for: path)
    return try commitAndUnlock(durability ?? options.durability, body)
  }

  /// Runs `body` in a transaction, commits it, and tells of it. The caller has taken the writer lock.
  func commitAndUnlock<R: ~Copyable>(
    _ durability: Options.Durability, _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    var outcome = Outcome()
    let result: R
    do {
      defer { writer.unlock() }
      result = try commit(durability, &outcome, body)
    }
    for action in outcome.actions { action.run() }
    if let id = outcome.transactionID { commitObservers.notify(id) }
    return result
  }

  /// What others are told of a commit.
  struct Outcome {
    var actions: [CommitAction] = []
    /// The number of the commit; `nil` if it changed nothing, since LMDB does not count it then.
    var transactionID: Int?
  }

  /// Throws what can be said before a write has its turn.
  package func checkWritable(_ durability: Options.Durability? = nil) throws(StoreError) {
    guard options.mode != .readOnly else {
      throw StoreError(.readOnly, "\(path) was opened for reading; open it in another mode to write.")
    }
    guard durability != .unsafeNoSync || options.durability == .unsafeNoSync else {
      throw StoreError(
        .invalidOption,
        "A write without a flush would endanger the other commits of \(path); open it with `unsafeNoSync`, or use "
          + "`relaxed`.")
    }
    try snapshots.checkUsable()
  }

  /// Runs `body` in a transaction and commits it, growing the map as needed. The caller holds the writer lock.
  func commit<R: ~Copyable>(
    _ durability: Options.Durability, _ outcome: inout Outcome, _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    try prepareToWrite()
    let isOwn = durability == options.durability
    if !isOwn { adopt(durability) }
    defer { if !isOwn && !snapshots.isForked { adopt(options.durability) } }
    var growths = 0
    while true {
      var doom: StoreError?
      do {
        return try attempt(durability, &outcome, &doom, body)
      } catch  where doom?.underlying == MDB_MAP_FULL && growths < 8 {
        growths += 1
        try grow(by: 1 << growths)
      } catch  where doom?.underlying == MDB_MAP_RESIZED && growths < 8 {
        growths += 1
        try adoptGrowthAsWriter()
      }
    }
  }

  /// LMDB looks at these flags in the commit, and only the holder of the writer lock commits.
  private func adopt(_ durability: Options.Durability) {
    unsafe mdb_env_set_flags(snapshots.raw, UInt32(MDB_NOSYNC | MDB_NOMETASYNC), 0)
    unsafe mdb_env_set_flags(snapshots.raw, durability.flags, 1)
  }

  private func attempt<R: ~Copyable>(
    _ durability: Options.Durability, _ outcome: inout Outcome, _ doom: inout StoreError?,
    _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    var pointer: OpaquePointer?
    let begun = unsafe mdb_txn_begin(snapshots.raw, nil, 0, &pointer)
    guard begun == MDB_SUCCESS, let raw = unsafe pointer else {
      let error = snapshots.failure(begun, "begin a write of \(path)")
      doom = error
      throw error
    }
    var transaction = unsafe WriteTransaction(raw, owner: id)
    var isEnded = false
    do {
      let result = try body(&transaction)
      if let failure = transaction.failure { throw failure }
      if snapshots.isForked { try snapshots.checkUsable() }
      let transactionID = transaction.changedBytes > 0 ? transaction.id : nil
      // The handle is gone after this call, whatever it returns.
      isEnded = true
      transaction.closeCursors()
      var code = unsafe mdb_txn_commit(raw)
      if code == MDB_SUCCESS, durability == .full { code = handle.flushDriveCache() }
      guard code == MDB_SUCCESS else {
        let error = commitFailure(code)
        doom = error
        throw error
      }
      outcome = Outcome(actions: transaction.commitActions, transactionID: transactionID)
      return result
    } catch {
      // In a child that was forked inside the closure, the transaction belongs to the parent.
      if !isEnded, !snapshots.isForked {
        transaction.closeCursors()
        unsafe mdb_txn_abort(raw)
      }
      if doom == nil { doom = transaction.failure }
      throw error
    }
  }

  private func commitFailure(_ code: Int32) -> StoreError {
    // LMDB reports a short write, which is what a full disk gives, as EIO.
    if [ENOSPC, EDQUOT, EFBIG].contains(code) || code == EIO && handle.isOutOfSpace(path) {
      return StoreError(
        .diskFull, "The disk of \(path) is full, and nothing was written; free some space and try again.",
        underlying: code)
    }
    if code == EIO {
      // After a failed flush the kernel may have dropped the pages, and the next flush would succeed without them.
      snapshots.poison(because: "the device failed during a commit", code)
    }
    return snapshots.failure(code, "commit a write of \(path)")
  }
}

extension Environment.Options.Durability {
  /// The LMDB flags that stand for it.
  var flags: UInt32 {
    switch self {
    case .full: 0
    case .relaxed: UInt32(MDB_NOMETASYNC)
    case .unsafeNoSync: UInt32(MDB_NOSYNC)
    }
  }
}
