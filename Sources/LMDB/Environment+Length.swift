import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// Finds out whether a file that is shorter than its header says has been cut off.
  ///
  /// LMDB does not write pages at the end that a transaction used and freed again, so that a healthy file may be short;
  /// its missing pages are all in the list of free ones. If they are not, a read would be a bus error. A healthy file
  /// is made as long as it says.
  ///
  /// The caller has a write transaction open, which keeps all other writers from the file.
  ///
  /// - Throws: `damaged` if a page is missing that is in use.
  @unsafe
  static func checkLength(
    of raw: OpaquePointer, _ id: EnvironmentID, _ path: String
  ) throws(StoreError) {
    var info = unsafe MDB_envinfo()
    var statistics = MDB_stat()
    var descriptor: Int32 = -1
    unsafe mdb_env_info(raw, &info)
    unsafe mdb_env_stat(raw, &statistics)
    unsafe mdb_env_get_fd(raw, &descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .posix(errno, "examine \(path)") }
    let pageSize = Int(statistics.ms_psize)
    let present = Int(status.st_size) / pageSize
    let missing = unsafe info.me_last_pgno + 1 - present
    guard missing > 0 else { return }
    // Zeros, where the list itself may lie, are an error where nothing at all is a bus error.
    guard ftruncate(descriptor, off_t((present + missing) * pageSize)) == 0 else {
      throw .posix(errno, "lengthen \(path)")
    }
    var isHealthy = false
    // As it was, so that the next one who opens it sees it as well.
    defer { if !isHealthy { ftruncate(descriptor, status.st_size) } }
    isHealthy = unsafe try freePages(from: present, of: raw, id, path) == missing
    guard isHealthy else {
      throw StoreError(
        .damaged,
        "\(path) is damaged: it has been cut off after page \(present), and not all of the \(missing) others were free; "
          + "keep the file and restore a copy.")
    }
  }

  /// How many free pages there are from one on; fewer if the list itself is broken.
  @unsafe
  private static func freePages(
    from first: Int, of raw: OpaquePointer, _ id: EnvironmentID, _ path: String
  ) throws(StoreError) -> Int {
    // A transaction that writes may not read the list.
    var pointer: OpaquePointer?
    let begun = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &pointer)
    guard begun == MDB_SUCCESS, let reader = unsafe pointer else { throw .lmdb(begun, "examine \(path)") }
    defer { unsafe mdb_txn_abort(reader) }
    var count = 0
    do throws(StoreError) {
      var cursor = unsafe try Cursor(
        reader, id, Database(name: "the list of free pages", handle: 0, owner: id), over: .all)
      while try cursor.next() {
        let list = cursor.value
        // The length, and after it as many page numbers.
        guard list.count >= 8, list.word(at: 0) >= 0, list.word(at: 0) < list.count / 8 else { continue }
        for index in 1..<list.word(at: 0) + 1 where list.word(at: 8 * index) >= first { count += 1 }
      }
    } catch  where error.code == .damaged {}
    return count
  }
}
