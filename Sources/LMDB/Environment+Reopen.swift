extension Environment {
  /// Whether the data file is no longer the one at the path: somebody has removed the directory, or moved it away.
  ///
  /// Costs a system call. What is read and written meanwhile is the removed file.
  ///
  /// - Throws: `closed`, `poisoned` or `forked`.
  package func isRemoved() throws(StoreError) -> Bool {
    let file = unsafe try snapshots.withHandle { _ in handle.file }
    return FileSystem.identity("\(path)/data.mdb") != file
  }

  /// Opens the file that is at the path now, or makes a new one, if the one that is open has been removed.
  ///
  /// Blocks as ``compact()`` does. What the removed file held is gone for this process. The commits are counted on, so that
  /// no number means two contents.
  ///
  /// - Returns: Whether it had been removed.
  /// - Throws: `busy` if a call of this process does not end in time; then nothing has changed. Otherwise the environment is
  ///   closed: if the file that is there was made by somebody who knew nothing of this one, or is open in this process; if
  ///   the directory cannot be made; `diskFull`, `io`.
  package func reopenIfRemoved() throws(StoreError) -> Bool {
    try checkWritable(nil)
    try writer.lock(for: path, atMost: options.waitLimit)
    defer { writer.unlock() }
    try snapshots.checkUsable()
    guard try isRemoved() else { return false }
    try FileSystem.makeDirectory(path)
    let directory = try File(path, .directory)
    guard try directory.lock(.exclusive, atMost: options.waitLimit) else { throw cannotReopen("somebody opens it") }
    let isDone = try snapshots.withoutReaders(atMost: options.waitLimit) { () throws(StoreError) in
      try Self.makeDataFile(in: path, directory, .createIfMissing) { workshop throws(StoreError) in
        try continueNumbering(in: workshop)
      }
      try adopt(directory)
    }
    if !isDone { throw cannotReopen("there are \(snapshots.openSnapshotsText)") }
    return true
  }

  private func adopt(_ directory: borrowing File) throws(StoreError) {
    let (file, header) = try Self.checkedDataFile(in: path)
    let isOpen = Registry.shared.update { $0.isOpen(file) }
    guard !isOpen, header.transactionID >= numberOfLastCommit else {
      let error = StoreError(
        .closed, "\(path) was removed and made anew by somebody else while it was open; open it again.")
      snapshots.drain()
      snapshots.end(SnapshotTable.Barrier.closed, error)
      Registry.shared.update { $0.close(handle) }
      throw error
    }
    try replaceHandle(directory)
  }

  private func cannotReopen(_ reason: String) -> StoreError {
    StoreError(.busy, "\(path) was removed and cannot be made anew: \(reason); try again after that.")
  }
}
