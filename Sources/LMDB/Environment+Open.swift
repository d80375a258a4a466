import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// Opens the environment in a directory, or makes a new one.
  ///
  /// Blocks for file system calls, and until a writer of another process is done. A new file is made aside, flushed and
  /// renamed, so that no crash leaves half of one. If this process has the file open already with the same options,
  /// the same environment is returned.
  ///
  /// - Parameters:
  ///   - path: A directory, which will hold `data.mdb` and `lock.mdb`. Its parent must exist.
  ///   - databases: The names of all databases that will be used, at most ``Options/databaseLimit``. Missing ones are
  ///     made.
  ///   - options: Durability, map size and the like.
  /// - Returns: The open environment.
  /// - Throws: `notFound`, `notADirectory`, `accessDenied`, `notADatabase`, `unsupportedVersion`, `damaged`,
  ///   `alreadyOpen`, `invalidOption`, `unknownDatabase` (for reading only), `mapFull`, `readersFull`, `diskFull` or
  ///   `io`, with a sentence that names the path.
  public static func open(
    at path: String, databases: [String], options: Options = Options()
  ) throws(StoreError) -> Environment {
    try options.validate(databases)
    try FileSystem.checkPath(path)
    if options.mode == .createIfMissing { try FileSystem.makeDirectory(path) }
    let directory = try File(path, .directory)
    let path = try FileSystem.canonicalPath(path)
    guard options.allowsNetworkFileSystem || !FileSystem.isOnNetwork(path) else {
      throw StoreError(
        .invalidOption,
        "\(path) is on a network file system, where LMDB's locks and map are not reliable; choose a local directory, or "
          + "set `allowsNetworkFileSystem` if only one machine ever uses it.")
    }
    let names = Set(databases)
    while true {
      let (environment, isInPlace) = try open(path, directory, names, options)
      guard isInPlace, !environment.snapshots.isPoisoned else {
        // Its failure is no reason not to start anew, once its transactions are gone.
        try environment.close()
        continue
      }
      if let difference = environment.handle.difference(from: options, names) {
        throw StoreError(
          .alreadyOpen,
          "\(path) is already open in this process with another \(difference); open it the same way everywhere.")
      }
      return environment
    }
  }

  /// The environment, which may be an open one with other options, and whether its files are still where it has found
  /// them.
  private static func open(
    _ path: String, _ directory: borrowing File, _ names: Set<String>, _ options: Options
  ) throws(StoreError) -> (Environment, isInPlace: Bool) {
    // Keeps out whoever else opens, makes or replaces this file now; before the registry, so that only they wait.
    _ = try directory.lock(waiting: true)
    defer { directory.unlock() }
    try makeDataFile(in: path, directory, options.mode)
    return try Registry.shared.update { registry throws(StoreError) in
      let (file, header) = try checkedDataFile(in: path)
      let lockFile = FileSystem.identity("\(path)/lock.mdb")
      if let environment = registry.environment(of: file, lockFile: lockFile) {
        return (environment, environment.areFilesInPlace)
      }
      let dataFile = try Registry.Handle.holdDataFile(in: path, options.mode)
      // Once it is open for writing: a file system of layers may have copied it for that.
      let held = try dataFile.identity()
      let raw = unsafe try openHandle(path, options)
      do throws(StoreError) {
        let id = registry.nextID()
        let handles = unsafe try openDatabases(names, of: raw, id, path, options.mode)
        let handle = unsafe Registry.Handle(
          raw, of: held, dataFile, in: path, pageSize: header.pageSize, options: options, databases: names)
        let environment = Environment(handle, id: id, path: path, databases: handles)
        registry.add(handle, for: environment)
        return (environment, true)
      } catch {
        unsafe mdb_env_close(raw)
        throw error
      }
    }
  }

  /// Where a data file is made before it gets its name.
  static func workshopPath(in path: String) -> String { "\(path)/.new-data" }

  /// Makes a data file if there is none, aside and then in one step; `finish` gets it before it is in its place.
  static func makeDataFile(
    in path: String, _ directory: borrowing File, _ mode: Options.Mode,
    _ finish: (Workshop) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    let data = "\(path)/data.mdb"
    if FileSystem.exists(data) {
      // What a compaction that was killed has left, which may be as large as the file: nobody else is at work here.
      if mode != .readOnly, FileSystem.exists(workshopPath(in: path)) { try? Workshop(workshopPath(in: path)).remove() }
      return
    }
    guard mode == .createIfMissing else {
      throw StoreError(.notFound, "There is no data.mdb in \(path); check the path, or open it with `createIfMissing`.")
    }
    let workshop = try Workshop(workshopPath(in: path))
    let raw = unsafe try createHandle()
    let code = unsafe mdb_env_open(raw, workshop.path, UInt32(MDB_NOTLS), 0o600)
    unsafe mdb_env_close(raw)
    guard code == MDB_SUCCESS else { throw .lmdb(code, "make a new environment in \(path)") }
    try finish(workshop)
    try File(workshop.data, .read).synchronize()
    try FileSystem.rename(workshop.data, to: data)
    try workshop.remove()
    try directory.synchronize()
  }

  /// Has the file system set aside room for the reader table.
  ///
  /// LMDB maps `lock.mdb` as a sparse file and writes to the map, which is a bus error where the disk is full. To open
  /// that file drops the locks of whoever in this process has it open: nobody, as the data file's own lock says.
  private static func reserveLockFile(in path: String, _ readerLimit: Int) throws(StoreError) {
    // What is in the way here is also in LMDB's, which may do without the file or says so itself.
    guard let file = try? File("\(path)/lock.mdb", .lock) else { return }
    // A reader takes 64 bytes, and the rest less than a page. A longer file has more readers.
    try file.reserve(max(file.size(), 64 * readerLimit + 4096))
  }

  /// Checks what LMDB takes for granted, before it maps the file.
  static func checkedDataFile(in path: String) throws(StoreError) -> (File.Identity, FileHeader) {
    let data = "\(path)/data.mdb"
    guard !FileSystem.isSymbolicLink(data) else {
      throw StoreError(.invalidOption, "\(data) is a symbolic link; open the directory it points into.")
    }
    // Before it is opened, which would wait for the other end of a pipe.
    guard FileSystem.isRegularFile(data) else {
      throw StoreError(.notADatabase, "\(data) is not a regular file; choose another directory.")
    }
    let file = try File(data, .read)
    guard try file.linkCount() == 1 else {
      throw StoreError(
        .invalidOption, "\(data) has a second name (a hard link), under which it would be locked apart; remove that.")
    }
    return (try file.identity(), try FileHeader(reading: file, path: data))
  }

  private static func createHandle() throws(StoreError) -> OpaquePointer {
    var version: (major: Int32, minor: Int32, patch: Int32) = (0, 0, 0)
    _ = unsafe mdb_version(&version.major, &version.minor, &version.patch)
    try checkVersion(version.major, version.minor, version.patch, pageSize: sysconf(Int32(_SC_PAGESIZE)))
    var pointer: OpaquePointer?
    let code = unsafe mdb_env_create(&pointer)
    guard code == MDB_SUCCESS, let raw = unsafe pointer else { throw .lmdb(code, "make an LMDB handle") }
    return unsafe raw
  }

  /// Refuses an LMDB that this library was not made for.
  ///
  /// Versions before 0.9.30 call pages of 16 KiB full that are not (ITS#9806).
  static func checkVersion(
    _ major: Int32, _ minor: Int32, _ patch: Int32, pageSize: Int
  ) throws(StoreError) {
    let least = pageSize >= 16 << 10 ? 30 : 24
    guard major == 0, minor == 9, patch >= least else {
      throw StoreError(
        .unsupportedVersion,
        "The linked LMDB is \(major).\(minor).\(patch); for pages of \(pageSize) bytes, link 0.9.\(least) or a later "
          + "0.9.")
    }
  }

  static func openHandle(_ path: String, _ options: Options) throws(StoreError) -> OpaquePointer {
    let raw = unsafe try createHandle()
    var flags = UInt32(MDB_NOTLS) | options.durability.flags
    if options.mode == .readOnly { flags |= UInt32(MDB_RDONLY) }
    unsafe mdb_env_set_maxdbs(raw, MDB_dbi(Options.databaseLimit))
    unsafe mdb_env_set_maxreaders(raw, UInt32(options.readerLimit))
    unsafe mdb_env_set_mapsize(raw, options.fittingMapSize())
    do throws(StoreError) { try reserveLockFile(in: path, options.readerLimit) } catch {
      unsafe mdb_env_close(raw)
      throw error
    }
    let code = unsafe mdb_env_open(raw, path, flags, 0o600)
    guard code == MDB_SUCCESS else {
      unsafe mdb_env_close(raw)
      throw .lmdb(code, "open the environment in \(path)")
    }
    var descriptor: Int32 = -1
    if unsafe mdb_env_get_fd(raw, &descriptor) == MDB_SUCCESS { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    // Snapshots of killed processes would keep pages from being reused.
    _ = unsafe mdb_reader_check(raw, nil)
    return unsafe raw
  }
}

extension Environment.Options {
  fileprivate func validate(_ databases: [String]) throws(StoreError) {
    func require(_ isValid: Bool, _ message: @autoclosure () -> String) throws(StoreError) {
      if !isValid { throw StoreError(.invalidOption, message()) }
    }
    try require(mapSize >= 64 << 10, "A `mapSize` of \(mapSize) bytes is too small; use at least 64 KiB.")
    try require(
      mapSizeLimit >= mapSize, "A `mapSizeLimit` of \(mapSizeLimit) bytes is less than the `mapSize` of \(mapSize).")
    try require(waitLimit >= .zero, "A `waitLimit` of \(waitLimit) is negative; use zero or more.")
    try require(
      (1...65_536).contains(readerLimit), "A `readerLimit` of \(readerLimit) is out of range; use 1 to 65536.")
    try require(
      databases.count <= Self.databaseLimit,
      "\(databases.count) databases are declared; declare at most \(Self.databaseLimit), and tell records apart by key."
    )
    try require(
      databases.allSatisfy { !$0.isEmpty && $0.utf8.count <= Environment.maximumKeyLength && !$0.utf8.contains(0) },
      "The name of a database is empty, too long or has a NUL in it; use 1 to 511 bytes of text.")
  }

  /// The map size, or the largest below it that the address space has room for.
  fileprivate func fittingMapSize() -> Int {
    AddressSpace.available(mapSize, atLeast: min(mapSize, 64 << 20)) ?? AddressSpace.rounded(mapSize)
  }
}
