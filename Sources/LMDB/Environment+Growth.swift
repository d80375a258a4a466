import CLMDB

extension Environment {
  /// What is due before a write: a state that allows it, the files in place, room in the map.
  func prepareToWrite() throws(StoreError) {
    try snapshots.checkUsable()
    let check = health.nextCheck(isCheap: options.durability == .unsafeNoSync)
    if check != .nothing { try checkFiles() }
    if check == .everything { unsafe mdb_reader_check(snapshots.raw, nil) }
    let map = mapUse()
    guard health.shouldGrow(used: map.used, of: map.size), map.size < roundedMapLimit else { return }
    // Readers must leave for it. There is room yet, so that it is not worth a long wait.
    let hasGrown = try? resize(to: min(map.size * 2, roundedMapLimit), atMost: .milliseconds(20))
    if hasGrown != true { health.postponeGrowth(used: map.used, of: map.size) }
    try snapshots.checkUsable()
  }

  /// Whether the files are still those that were opened. Whoever opens the environment with another lock file does not
  /// see this process, and both would write at once; what is written to another data file is lost.
  var areFilesInPlace: Bool {
    FileSystem.identity("\(path)/data.mdb") == handle.file && FileSystem.identity("\(path)/lock.mdb") == handle.lockFile
  }

  /// Poisons the environment if its files are not in place. The caller holds the writer lock.
  func checkFiles() throws(StoreError) {
    if areFilesInPlace { return }
    // What was removed, nobody else can write to, and its user looks after it.
    if options.isDisposable, try isRemoved() { return }
    snapshots.poison(
      because: "somebody replaced, moved or removed its data.mdb or lock.mdb, so that what it wrote would be lost", nil)
    try snapshots.checkUsable()
  }

  /// Makes the map `factor` times as large, or as large as its limit allows. The caller holds the writer lock.
  ///
  /// - Throws: `mapFull` if the limit is reached, an open snapshot is in the way, or the address space has no room.
  func grow(by factor: Int) throws(StoreError) {
    let size = mapUse().size
    guard size < roundedMapLimit else {
      throw StoreError(
        .mapFull,
        "\(path) is full: its map has reached `mapSizeLimit` (\(options.mapSizeLimit) bytes); remove something, or open "
          + "it with a higher limit.", underlying: MDB_MAP_FULL)
    }
    guard try resize(to: min(size * factor, roundedMapLimit), atMost: options.waitLimit) else { throw blockedGrowth() }
  }

  /// Follows another process that grew the file beyond this one's map; for a thread that has no snapshot open.
  func adoptGrowth() throws(StoreError) {
    try writer.lock(for: path, atMost: options.waitLimit)
    defer { writer.unlock() }
    try snapshots.checkUsable()
    try adoptGrowthAsWriter()
  }

  /// As ``adoptGrowth()``, for the holder of the writer lock.
  func adoptGrowthAsWriter() throws(StoreError) {
    let map = mapUse()
    if map.used <= map.size { return }
    // The limit is for what this process adds; what is there must be read.
    let size = max(map.used, min(map.used * 2, roundedMapLimit))
    guard try resize(to: size, atMost: options.waitLimit) else { throw blockedGrowth() }
  }

  /// The bytes in use, by the newest commit, and those of the map. The caller holds the writer lock or a slot.
  func mapUse() -> (used: Int, size: Int) {
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(snapshots.raw, &info)
    return unsafe ((info.me_last_pgno + 1) * handle.pageSize, info.me_mapsize)
  }

  private var roundedMapLimit: Int { AddressSpace.rounded(options.mapSizeLimit) }

  /// - Returns: `false` if an open snapshot is in the way.
  private func resize(to wanted: Int, atMost limit: Duration) throws(StoreError) -> Bool {
    try snapshots.withoutReaders(atMost: limit) { () throws(StoreError) in try remap(to: wanted) }
  }

  /// Makes the map larger; nobody may be inside.
  private func remap(to wanted: Int) throws(StoreError) {
    let current = mapUse().size
    // LMDB lets go of the old map before it makes the new one, so it must not fail.
    guard let size = AddressSpace.available(wanted, atLeast: max(mapUse().used, current + (1 << 16))) else {
      throw StoreError(
        .mapFull,
        "The map of \(path) cannot grow from \(current) to \(wanted) bytes: the address space has no room for it.",
        underlying: MDB_MAP_FULL)
    }
    let code = unsafe mdb_env_set_mapsize(snapshots.raw, size)
    guard code == MDB_SUCCESS else {
      snapshots.poison(because: "its map was lost while it grew", code)
      throw .lmdb(code, "grow the map of \(path)")
    }
  }

  /// Follows another process that grew the file beyond this one's map; nobody may be inside.
  func adoptGrowthAlone() throws(StoreError) {
    let map = mapUse()
    if map.used > map.size { try remap(to: map.used) }
  }

  private func blockedGrowth() -> StoreError {
    StoreError(
      .mapFull,
      "The map of \(path) is full and could not grow within \(options.waitLimit): there are "
        + "\(snapshots.openSnapshotsText); end them, or open with a larger `mapSize`.", underlying: MDB_MAP_FULL)
  }
}
