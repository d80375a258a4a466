import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension StoreError {
  /// Translates a return code of LMDB, which is an LMDB code (negative) or an `errno` (positive).
  ///
  /// This is the only place that knows what LMDB's codes mean.
  ///
  /// - Parameters:
  ///   - code: What the function returned.
  ///   - operation: What was being done, such as `open /var/app`.
  /// - Returns: The error, its message a sentence.
  static func lmdb(_ code: Int32, _ operation: String) -> StoreError {
    guard code < 0 else { return posix(code, operation) }
    let (kind, text): (Code, String) =
      switch code {
      case MDB_NOTFOUND:
        (.notFound, "there is no such item")
      case MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_BAD_TXN, MDB_PAGE_FULL, MDB_CURSOR_FULL:
        (.damaged, "the file's pages contradict each other; keep the file and run `kvdump info` on a copy")
      case MDB_PANIC:
        (.poisoned, "an earlier commit could not write the file's header; close the environment and open it again")
      case MDB_VERSION_MISMATCH:
        (.unsupportedVersion, "the file was written by an LMDB version that the linked one does not read")
      case MDB_INVALID:
        (.notADatabase, "the file is not an LMDB environment; choose another directory")
      case MDB_MAP_FULL:
        (.mapFull, "the map is full; open the environment with a larger `mapSize`")
      case MDB_MAP_RESIZED:
        (.mapFull, "another process grew the file beyond this map; open the environment with a larger `mapSize`")
      case MDB_DBS_FULL:
        (.invalidOption, "too many databases are declared; declare at most \(Environment.Options.databaseLimit)")
      case MDB_READERS_FULL:
        (.readersFull, "all reader slots are taken; end some readers or open with a larger `readerLimit`")
      case MDB_TXN_FULL:
        (.transactionFull, "the transaction changed too many pages; split it")
      case MDB_INCOMPATIBLE:
        (.invalidOption, "the database has flags that this library does not use; open a database it has made")
      case MDB_BAD_VALSIZE:
        (.invalidKey, "a key or value has a size that LMDB does not take; keys are 1 to 511 bytes")
      case MDB_BAD_DBI:
        (.unknownDatabase, "the database was dropped or recreated by another process; open the environment again")
      case MDB_BAD_RSLOT:
        (.busy, "the reader slot belongs to another thread; do not use an environment after fork()")
      default:
        (.io, "LMDB answered with a code that this library does not know")
      }
    return StoreError(kind, "Cannot \(operation): \(text).", underlying: code)
  }

  /// Translates an `errno`.
  ///
  /// - Parameters:
  ///   - code: The `errno`.
  ///   - operation: What was being done, such as `open /var/app`.
  /// - Returns: The error, its message a sentence.
  package static func posix(_ code: Int32, _ operation: String) -> StoreError {
    let (kind, text): (Code, String) =
      switch code {
      case ENOENT: (.notFound, "there is no such file or directory; check the path")
      case ENOTDIR: (.notADirectory, "a part of the path is not a directory; name a directory")
      case EACCES, EPERM: (.accessDenied, "this process may not use it; check owner and permissions")
      case EROFS: (.accessDenied, "the file system is read-only; choose another directory or open it for reading")
      case ENOSPC, EDQUOT, EFBIG: (.diskFull, "there is no space left; free some and try again")
      case ENOMEM: (.mapFull, "the address space has no room for the map; open with a smaller `mapSize`")
      case EMFILE, ENFILE: (.busy, "too many files are open; close some, or raise the limit, and try again")
      case EAGAIN, EBUSY:
        (.busy, "it is held elsewhere (processes that share a file must share a PID namespace); try again later")
      default: (.io, errorText(code))
      }
    return StoreError(kind, "Cannot \(operation): \(text).", underlying: code)
  }

  private static func errorText(_ code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      unsafe buffer.initialize(repeating: 0)
      guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count) == 0 else {
        return "the system says error \(code)"
      }
      return unsafe String(cString: start)
    }
  }
}
