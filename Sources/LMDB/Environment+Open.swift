import CLMDB
import Synchronization

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
  ///   `alreadyOpen`, `invalidOption`, `diskFull` or `io`, with a sentence that names the path.
  public static func open(
    at path: String, databases: [String], options: Options = Options()
  ) throws(StoreError) -> Environment {
    try options.validate(databases)
    if options.mode == .createIfMissing { try FileSystem.makeDirectory(path) }
    let directory = try File(path, .directory)
    let path = try FileSystem.canonicalPath(path)
    return try Registry.shared.withLock { registry throws(StoreError) in
      // Keeps out the other processes that open or make this file now.
      _ = try directory.lock(waiting: true)
      defer { directory.unlock() }
      try makeDataFile(in: path, directory, options.mode)
      let file = try checkedDataFile(in: path)
      let names = Set(databases)
      if let environment = try registry.environment(of: file, at: path, options: options, databases: names) {
        return environment
      }
      let raw = unsafe try openHandle(path, options)
      do throws(StoreError) {
        let id = registry.nextID()
        let (main, declared) = unsafe try openDatabases(names, of: raw, id, path, options.mode)
        let handle = unsafe Registry.Handle(raw, of: file, options: options, databases: names)
        let environment = Environment(
          handle, id: id, path: path, options: options, main: main, databases: declared)
        registry.add(handle, for: environment)
        return environment
      } catch {
        unsafe mdb_env_close(raw)
        throw error
      }
    }
  }

  private static func makeDataFile(
    in path: String, _ directory: borrowing File, _ mode: Options.Mode
  ) throws(StoreError) {
    let data = "\(path)/data.mdb"
    if FileSystem.exists(data) { return }
    guard mode == .createIfMissing else {
      throw StoreError(.notFound, "There is no data.mdb in \(path); check the path, or open it with `createIfMissing`.")
    }
    let workshop = "\(path)/.new-data"
    try FileSystem.makeDirectory(workshop)
    for name in ["data.mdb", "lock.mdb"] { try FileSystem.removeFile("\(workshop)/\(name)") }
    let raw = unsafe try createHandle()
    let code = unsafe mdb_env_open(raw, workshop, UInt32(MDB_NOTLS), 0o600)
    unsafe mdb_env_close(raw)
    guard code == MDB_SUCCESS else { throw .lmdb(code, "cannot make a new environment in \(path)") }
    try File("\(workshop)/data.mdb", .read).synchronize()
    try FileSystem.rename("\(workshop)/data.mdb", to: data)
    try FileSystem.removeFile("\(workshop)/lock.mdb")
    try FileSystem.removeDirectory(workshop)
    try directory.synchronize()
  }

  /// Checks what LMDB takes for granted, before it maps the file.
  private static func checkedDataFile(in path: String) throws(StoreError) -> File.Identity {
    let data = "\(path)/data.mdb"
    guard !FileSystem.isSymbolicLink(data) else {
      throw StoreError(.invalidOption, "\(data) is a symbolic link; open the directory it points into.")
    }
    let file = try File(data, .read)
    guard try file.isRegular() else {
      throw StoreError(.notADatabase, "\(data) is not a regular file; choose another directory.")
    }
    guard try file.linkCount() == 1 else {
      throw StoreError(
        .invalidOption, "\(data) has a second name (a hard link), under which it would be locked apart; remove that.")
    }
    _ = try FileHeader(reading: file, path: data)
    return try file.identity()
  }

  private static func createHandle() throws(StoreError) -> OpaquePointer {
    var version: (major: Int32, minor: Int32, patch: Int32) = (0, 0, 0)
    _ = unsafe mdb_version(&version.major, &version.minor, &version.patch)
    guard version.major == 0, version.minor == 9, version.patch >= 24 else {
      throw StoreError(
        .unsupportedVersion,
        "The linked LMDB is \(version.major).\(version.minor).\(version.patch); link 0.9.24 or a later 0.9.")
    }
    var pointer: OpaquePointer?
    let code = unsafe mdb_env_create(&pointer)
    guard code == MDB_SUCCESS, let raw = unsafe pointer else { throw .lmdb(code, "cannot make an LMDB handle") }
    return unsafe raw
  }

  private static func openHandle(_ path: String, _ options: Options) throws(StoreError) -> OpaquePointer {
    let raw = unsafe try createHandle()
    var flags = MDB_NOTLS
    if options.mode == .readOnly { flags |= MDB_RDONLY }
    switch options.durability {
    case .full: break
    case .relaxed: flags |= MDB_NOMETASYNC
    case .unsafeNoSync: flags |= MDB_NOSYNC
    }
    unsafe mdb_env_set_maxdbs(raw, MDB_dbi(Options.databaseLimit))
    unsafe mdb_env_set_maxreaders(raw, UInt32(options.readerLimit))
    unsafe mdb_env_set_mapsize(raw, options.fittingMapSize())
    let code = unsafe mdb_env_open(raw, path, UInt32(flags), 0o600)
    guard code == MDB_SUCCESS else {
      unsafe mdb_env_close(raw)
      throw .lmdb(code, "cannot open the environment in \(path)")
    }
    var descriptor: Int32 = -1
    if unsafe mdb_env_get_fd(raw, &descriptor) == MDB_SUCCESS { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    // Snapshots of killed processes would keep pages from being reused.
    _ = unsafe mdb_reader_check(raw, nil)
    return unsafe raw
  }

  private static func openDatabases(
    _ names: Set<String>, of raw: OpaquePointer, _ id: EnvironmentID, _ path: String, _ mode: Options.Mode
  ) throws(StoreError) -> (main: Database, declared: [String: Database]) {
    let isReadOnly = mode == .readOnly
    var pointer: OpaquePointer?
    let begun = unsafe mdb_txn_begin(raw, nil, isReadOnly ? UInt32(MDB_RDONLY) : 0, &pointer)
    guard begun == MDB_SUCCESS, let transaction = unsafe pointer else {
      throw .lmdb(begun, "cannot open the databases of \(path)")
    }
    let opened: (main: Database, declared: [String: Database])
    do throws(StoreError) {
      let main = unsafe try openDatabase(nil, in: transaction, id, path, isReadOnly)
      var databases: [String: Database] = [:]
      for name in names { databases[name] = unsafe try openDatabase(name, in: transaction, id, path, isReadOnly) }
      opened = (main, databases)
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    // Committed even when it only read: handles opened in an aborted transaction are not valid.
    let code = unsafe mdb_txn_commit(transaction)
    guard code == MDB_SUCCESS else { throw .lmdb(code, "cannot make the databases of \(path)") }
    return opened
  }

  private static func openDatabase(
    _ name: String?, in transaction: OpaquePointer, _ id: EnvironmentID, _ path: String, _ isReadOnly: Bool
  ) throws(StoreError) -> Database {
    var handle: MDB_dbi = 0
    var flags: UInt32 = 0
    let mode = isReadOnly || name == nil ? 0 : UInt32(MDB_CREATE)
    var code = unsafe mdb_dbi_open(transaction, name, mode, &handle)
    if code == MDB_SUCCESS { code = unsafe mdb_dbi_flags(transaction, handle, &flags) }
    if code == MDB_SUCCESS && flags != 0 && name != nil { code = MDB_INCOMPATIBLE }
    let name = name ?? "main"
    if code == MDB_NOTFOUND {
      throw StoreError(.unknownDatabase, "There is no database \(name) in \(path); check what made the file.")
    }
    guard code == MDB_SUCCESS else { throw .lmdb(code, "cannot open the database \(name) of \(path)") }
    return Database(name: name, handle: handle, owner: id)
  }
}

extension Environment.Options {
  fileprivate func validate(_ databases: [String]) throws(StoreError) {
    func require(_ isValid: Bool, _ message: @autoclosure () -> String) throws(StoreError) {
      if !isValid { throw StoreError(.invalidOption, message()) }
    }
    try require(mapSize >= 64 << 10, "A `mapSize` of \(mapSize) bytes is too small; use at least 64 KiB.")
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

  /// The map size rounded up to 64 KiB, or the largest half of it that the address space has room for.
  fileprivate func fittingMapSize() -> Int {
    var size = (mapSize + 0xFFFF) & ~0xFFFF
    while size > 64 << 20 {
      let probe = unsafe mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0)
      if unsafe probe != MAP_FAILED {
        unsafe munmap(probe, size)
        break
      }
      size = (size / 2 + 0xFFFF) & ~0xFFFF
    }
    return size
  }
}
