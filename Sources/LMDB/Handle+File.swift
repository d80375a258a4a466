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

  /// Shows other processes that this one has the data file open.
  ///
  /// LMDB locks `lock.mdb`, which nobody else may open; its own test for being alone is hidden. So the data file
  /// carries a lock of ours, shared by all who have it open.
  func holdDataFile(at path: String) throws(StoreError) {
    let file = try File("\(path)/data.mdb", .read)
    _ = try file.lock(.shared, waiting: true)
    dataFile = consume file
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
