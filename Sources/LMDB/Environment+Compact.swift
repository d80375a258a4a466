import CLMDB

extension Environment {
  /// Makes the file as small as its content, by storing every key anew in order.
  ///
  /// Blocks until that is on the device, and every other transaction of this process for as long. The old file stays
  /// until the new one is complete, so that a crash leaves one of them, and the disk needs room for both. Values
  /// that were removed are gone from the file afterwards, though not from the disk.
  ///
  /// Databases that were not declared are kept. The commits are counted on: see ``Info/lastTransactionID``.
  ///
  /// - Throws: `busy` if another process has the file open, or a transaction of this one does not end in time;
  ///   `nestedWrite` inside a write; `invalidOption` if the file holds what cannot be stored anew: a database that other
  ///   software made with an order of its own, a record beside the databases, or a database that another process made
  ///   after this one opened the file; `diskFull`, `accessDenied` or `io` if the new file cannot be written. In each
  ///   case the environment is as it was. `poisoned` if its files are not where it has found them.
  public func compact() throws(StoreError) { try compact(waitingAtMost: options.waitLimit) }

  /// As ``compact()``, for work that is not worth a long wait, during which nobody else could write.
  package func compact(waitingAtMost limit: Duration) throws(StoreError) {
    try checkWritable(nil)
    try writer.lock(for: path, atMost: limit)
    defer { writer.unlock() }
    try snapshots.checkUsable()
    let directory = try File(path, .directory)
    guard try directory.lock(.exclusive, atMost: limit) else { throw busy("somebody opens it") }
    defer { directory.unlock() }
    // Or the file of another environment, which has the path now, would be replaced.
    try checkFiles()
    guard try handle.lockAlone(atMost: limit) else { throw busy("another process has it open") }
    defer { handle.share() }
    let isDone = try snapshots.withoutReaders(atMost: limit) { () throws(StoreError) in
      try adoptGrowthAlone()
      let workshop = try Workshop(Self.workshopPath(in: path))
      do throws(StoreError) {
        unsafe try rebuildAlone(in: workshop)
        try continueNumbering(in: workshop)
        try File(workshop.data, .read).synchronize()
        try FileSystem.rename(workshop.data, to: "\(path)/data.mdb")
      } catch {
        try? workshop.remove()
        throw error
      }
      try? workshop.remove()
      try replaceHandle(directory)
    }
    if !isDone { throw busy("there are \(snapshots.openSnapshotsText)") }
  }

  private func busy(_ reason: String) -> StoreError {
    StoreError(.busy, "\(path) cannot be compacted: \(reason); try again after that.")
  }

  @unsafe
  private func rebuildAlone(in workshop: Workshop) throws(StoreError) {
    var pointer: OpaquePointer?
    let code = unsafe mdb_txn_begin(snapshots.raw, nil, UInt32(MDB_RDONLY), &pointer)
    guard code == MDB_SUCCESS, let transaction = unsafe pointer else { throw .lmdb(code, "compact \(path)") }
    defer { unsafe mdb_txn_abort(transaction) }
    unsafe try rebuild(transaction, in: workshop)
  }

  /// Has the new file's commits count on from those of the old one, so that no number means two contents.
  func continueNumbering(in workshop: Workshop) throws(StoreError) {
    // LMDB finds the newest header by the lowest bit of its number.
    let offset = (numberOfLastCommit + 1) & ~1
    try FileHeader.addToTransactionIDs(offset, of: File(workshop.data, .update), pageSize: handle.pageSize)
  }

  /// The number of the newest commit; only while nobody replaces the handle.
  var numberOfLastCommit: UInt64 { unsafe UInt64(LMDB.lastTransactionID(of: snapshots.raw)) }

  /// Closes the handle of the file that has just been replaced, and opens the new one.
  func replaceHandle(_ directory: borrowing File) throws(StoreError) {
    snapshots.drain()
    do throws(StoreError) {
      try Registry.shared.update { registry throws(StoreError) in
        registry.close(handle)
        try directory.synchronize()
        let (file, _) = try Self.checkedDataFile(in: path)
        handle.dataFile = try Registry.Handle.holdDataFile(in: path, options.mode)
        let raw = unsafe try Self.openHandle(path, options)
        unsafe snapshots.raw = unsafe raw
        unsafe handle.raw = unsafe raw
        handle.file = file
        handle.lockFile = FileSystem.identity("\(path)/lock.mdb")
        registry.add(handle, for: self)
        let reopened = unsafe try Self.openDatabases(Set(databases.declared.keys), of: raw, id, path, options.mode)
        guard reopened == databases else {
          throw StoreError(.damaged, "\(path) has other databases after its file was replaced; open it again.")
        }
      }
    } catch {
      // The new file is in place and whole, but this environment has no handle on it.
      Registry.shared.update { $0.close(handle) }
      snapshots.end(SnapshotTable.Barrier.closed, error)
      throw error
    }
  }
}
