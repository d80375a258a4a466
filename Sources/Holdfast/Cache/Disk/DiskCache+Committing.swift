import LMDB

extension DiskCache {
  /// Runs an edit in the write transaction.
  ///
  /// - Parameters:
  ///   - reads: The reads that go into the order of use with it; `nil` for a few of those that wait.
  ///   - body: The changes.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or why the commit failed; then nothing has changed.
  func write<R>(
    after reads: [DiskCacheTouches.Touch]? = nil, _ body: (inout DiskCacheEdit, inout WriteTransaction) throws -> R
  ) throws -> R {
    if try isRemoved() { try startAnew() }
    let reads = reads ?? touches.take(Self.readsPerWrite)
    // The engine is another module: a result whose type it does not know costs it thousands of instructions.
    var result: R?
    var aftermath = DiskCacheEdit.Aftermath()
    try environment.write { transaction in result = try perform(reads, &transaction, &aftermath, body) }
    settle(aftermath)
    guard let result else { throw StoreError(.io, "A write of \(path) has no result; try again.") }
    return result
  }

  /// As the synchronous form, on the writer thread.
  func write<R: Sendable>(
    _ body: @escaping @Sendable (inout DiskCacheEdit, inout WriteTransaction) throws -> R
  ) async throws -> R {
    if try isRemoved() { try await Background.run { [self] in try startAnew() } }
    let reads = touches.take(Self.readsPerWrite)
    let (result, aftermath) = try await environment.write { [self] transaction in
      var aftermath = DiskCacheEdit.Aftermath()
      return (try perform(reads, &transaction, &aftermath, body), aftermath)
    }
    settle(aftermath)
    return result
  }

  /// How many reads a write brings into the order of use, and how many expired entries it removes: a few, so that no
  /// write is slow for the sake of the others.
  private static let readsPerWrite = 16

  private func perform<R>(
    _ reads: [DiskCacheTouches.Touch], _ transaction: inout WriteTransaction,
    _ aftermath: inout DiskCacheEdit.Aftermath, _ body: (inout DiskCacheEdit, inout WriteTransaction) throws -> R
  ) throws -> R {
    try sync.willWrite()
    let (limits, damaged) = state.update { state in
      defer { if !state.damaged.isEmpty { state.damaged = [:] } }
      return (state.limits, state.damaged)
    }
    var edit = try DiskCacheEdit(
      tables, now: system.time.now(), limits: limits, touches: touches, hits: entryHits, isWatched: changes.isHeard,
      in: transaction.reader)
    for (key, version) in damaged {
      let found = try edit.record(key.bytes, in: transaction.reader)
      if found.exists, found.record == nil || found.record?.version == version {
        try edit.remove(key.bytes, as: .damaged, in: &transaction)
        edit.mustRecount = true
      }
    }
    try edit.apply(reads, in: &transaction)
    try edit.purgeExpired(limit: Self.readsPerWrite, in: &transaction)
    let result = try body(&edit, &transaction)
    try edit.finish(in: &transaction)
    aftermath = edit.aftermath
    return result
  }

  /// Removes the files of entries that are gone; many of them in the background, so that nobody waits for that.
  private func removeFiles(_ names: [UInt64]) {
    if names.isEmpty { return }
    if names.count <= 16 { return folder.remove(names) }
    Task { [folder] in await Background.run { folder.remove(names) } }
  }

  /// Does what is left to do after a commit, outside of every lock.
  private func settle(_ aftermath: DiskCacheEdit.Aftermath) {
    removeFiles(aftermath.obsoleteFiles)
    let dropped = eventStreams.send(aftermath.events) + changes.send(aftermath.changes)
    counts.update { counts in
      counts.add(aftermath.counts)
      counts.writes += 1
      counts.droppedEvents += dropped
    }
  }
}
