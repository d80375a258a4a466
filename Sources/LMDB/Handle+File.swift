import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Registry.Handle {
  /// Has the drive write out its cache, which Apple's `fsync` does not.
  ///
  /// - Returns: Zero or an `errno`.
  func flushDriveCache() -> Int32 {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) != 0 { return errno }
    #endif
    return 0
  }

  /// Whether the file system, or the process's limit on file sizes, has less than a megabyte left for the data file.
  func isOutOfSpace(_ path: String) -> Bool {
    if FileSystem.isFull(path) { return true }
    var limit = rlimit()
    var status = stat()
    guard unsafe getrlimit(fileSizeLimit, &limit) == 0, unsafe fstat(descriptor, &status) == 0 else { return false }
    return limit.rlim_cur < rlim_t(status.st_size) + (1 << 20)
  }

  /// Shows others that this process has the data file open; before LMDB opens it.
  ///
  /// To other processes, a lock shows that, shared by all who have the file open: LMDB's own test for being alone is
  /// hidden, and nobody else may open `lock.mdb`, which it locks. To another copy of this library in the same process,
  /// which has a registry of its own, a mark does: LMDB cannot notice that it opens a file twice, and forgets its readers.
  ///
  /// - Throws: `alreadyOpen` if another copy has it open.
  static func holdDataFile(in path: String, _ mode: Environment.Options.Mode) throws(StoreError) -> File {
    let data = "\(path)/data.mdb"
    // A reader may not be allowed to write, and still must find the mark of one who is.
    let writable = mode == .readOnly ? try? File(data, .update) : try File(data, .update)
    let isWritable = writable != nil
    let file = if let writable { writable } else { try File(data, .read) }
    guard file.markAsOpen(writable: isWritable) else {
      throw StoreError(
        .alreadyOpen,
        "\(path) is already open in this process, through another copy of this library, or in another PID namespace by a "
          + "process of the same number; open it in one place.")
    }
    _ = try file.lock(.shared, waiting: true)
    return file
  }

  /// Takes the data file's lock alone.
  ///
  /// - Parameter limit: How long to try.
  /// - Returns: `false` if another process has the file open.
  /// - Throws: `io` if the file system has no locks.
  func lockAlone(atMost limit: Duration) throws(StoreError) -> Bool {
    guard let isAlone = try dataFile?.lock(.exclusive, atMost: limit) else { return true }
    // The kernel may have let go of the shared lock to try.
    if !isAlone { share() }
    return isAlone
  }

  /// Takes the data file's lock with others again.
  func share() { _ = try? dataFile?.lock(.shared, waiting: true) }

  private var descriptor: Int32 {
    var descriptor: Int32 = -1
    unsafe mdb_env_get_fd(raw, &descriptor)
    return descriptor
  }
}

#if canImport(Glibc)
  private let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
  private let fileSizeLimit = RLIMIT_FSIZE
#endif
