import LMDB

extension DiskCache {
  /// The file must be this large, and half of it free, before it is worth rewriting.
  static let compactionFloor = 4 << 20
  /// How long work in the background may keep others from writing before it even begins.
  private static let backgroundPatience = Duration.milliseconds(20)

  /// What the cache takes on disk: the data file and the files of large values.
  ///
  /// - Throws: As ``value(forKey:)``.
  public func allocatedBytes() throws -> Int {
    let info = try environment.info()
    return try info.usedPages * info.pageSize + totals().fileBytes
  }

  /// Rewrites the data file without its free space.
  ///
  /// Blocks every other call of this process for as long; needs room for both files, and that no other process has the
  /// cache open. The cache does it itself, in the background after writes, when more than half of a file of at least
  /// 4 MiB is free.
  ///
  /// - Throws: `busy` if another process has it open, or a call does not end in time; `diskFull`; `io`. Nothing is lost.
  public func compact() throws { try compact(waitingAtMost: environment.options.waitLimit) }

  /// As `compact()`. In the background it is not worth a long wait, during which nobody else could write.
  private func compact(waitingAtMost limit: Duration) throws {
    let before = try environment.info()
    try environment.compact(waitingAtMost: limit)
    let after = try environment.info()
    eventStreams.send([
      .compacted(from: before.usedPages * before.pageSize, to: after.usedPages * after.pageSize)
    ])
  }

  /// What is due after a while of writing; on a thread that may block.
  func maintain() {
    do {
      try sweep()
      try relieveDisk()
      if try isWorthCompacting(), let room = system.availableBytes(path), room > liveBytes(try environment.info()) {
        try compact(waitingAtMost: Self.backgroundPatience)
      }
    } catch let error as StoreError where error.code == .busy || error.code == .closed {
      // Others use the cache: next time.
    } catch {
      let failure = error as? StoreError ?? StoreError(.io, "The upkeep of the cache at \(path) failed: \(error).")
      eventStreams.send([.maintenanceFailed(failure)])
    }
  }

  private func isWorthCompacting() throws -> Bool {
    let info = try environment.info()
    return info.usedPages * info.pageSize >= Self.compactionFloor && info.freePages * 2 > info.usedPages
  }

  private func liveBytes(_ info: Environment.Info) -> Int { (info.usedPages - info.freePages) * info.pageSize }

  /// Removes the files that no entry names, once.
  private func sweep() throws {
    guard
      state.update({ state in
        defer { state.hasSwept = true }
        return !state.hasSwept
      })
    else { return }
    try folder.collectOrphans { name in
      try environment.read { transaction in
        try transaction.value(forKey: name.bigEndianBytes.span, in: tables.files) != nil
      }
    }
  }

  /// Gives the volume back what it lacks of free space, as far as this cache can.
  ///
  /// First what is expired; then the files of large values, whose space is back at once; then as many other entries as
  /// would free what is missing, but only if the data file can be rewritten for it: otherwise they would leave for
  /// nothing. What did not help is not tried again for a while, twice as long each time.
  func relieveDisk() throws {
    guard let limit = limits.freeDiskSpaceLimit, let free = system.availableBytes(path), free < limit else {
      return state.update { $0.nextReliefPause = 1 }
    }
    guard
      state.update({ state in
        state.reliefPause -= 1
        return state.reliefPause < 0
      })
    else { return }
    try purgeExpired()
    let missing = limit - free
    let files = try evictFiles(atLeast: missing)
    var isRelieved = files >= missing
    if !isRelieved { isRelieved = try evictAndCompact(atLeast: missing - files) }
    state.update { state in
      state.reliefPause = isRelieved ? 0 : state.nextReliefPause
      state.nextReliefPause = isRelieved ? 1 : min(1024, state.nextReliefPause * 2)
    }
  }

  /// Removes entries that have files, the least recently used first.
  ///
  /// - Returns: The bytes that their files had.
  private func evictFiles(atLeast bytes: Int) throws -> Int {
    let before = try totals().fileBytes
    if before == 0 { return 0 }
    let keys = try environment.read { transaction in
      var keys: [[UInt8]] = []
      var sum = 0
      var cursor = try transaction.cursor(in: tables.order, over: DiskCacheTables.evictable)
      while sum < bytes, try cursor.next() {
        let key = [UInt8](copying: cursor.value)
        guard let found = try transaction.value(forKey: key.span, in: tables.entries),
          let record = DiskCacheRecord(found), record.flags == .file
        else { continue }
        keys.append(key)
        sum += record.length
      }
      return keys
    }
    try write { edit, transaction in
      for key in keys {
        guard let record = try edit.record(key, in: transaction.reader).record, record.flags == .file else { continue }
        try edit.remove(key, as: .evicted(.freeSpace), in: &transaction)
      }
    }
    return before - (try totals().fileBytes)
  }

  /// Removes entries and rewrites the file, if there is room for that.
  private func evictAndCompact(atLeast bytes: Int) throws -> Bool {
    let before = try environment.info()
    let size = before.usedPages * before.pageSize
    let live = liveBytes(before)
    // What stays after the eviction must fit beside the old file.
    let kept = max(0, live - max(0, bytes - (size - live)))
    guard size >= Self.compactionFloor, size - kept >= bytes, let room = system.availableBytes(path), room > kept else {
      return false
    }
    // Nobody else may have it open; asked before anything leaves. The rewriting itself may free enough.
    try compact(waitingAtMost: Self.backgroundPatience)
    var info = try environment.info()
    guard size - info.usedPages * info.pageSize < bytes else { return true }
    let target = max(0, size - bytes)
    while case let live = liveBytes(info), live > target {
      let count = try totals().count
      let batch = min(Self.trimBatch, 1 + (live - target) * count / live)
      let removed = try write { edit, transaction in
        try edit.evict(.freeSpace, limit: batch, in: &transaction) { _ in true }
      }
      if removed == 0 { break }
      info = try environment.info()
    }
    try compact(waitingAtMost: Self.backgroundPatience)
    info = try environment.info()
    return size - info.usedPages * info.pageSize >= bytes
  }
}
