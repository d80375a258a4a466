import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// How many bytes are appended in one transaction, which bounds the memory that LMDB uses.
  private static let rebuildByteLimit = 16 << 20

  /// Stores every key of a snapshot anew, in order, in a new file.
  ///
  /// `mdb_copy -c` keeps half-full pages as they are and leaves 1.6 times the payload of a file that was filled in
  /// random order; appending leaves 1.1 times.
  ///
  /// - Parameters:
  ///   - transaction: The snapshot.
  ///   - workshop: An empty directory; its data file is flushed by the caller.
  /// - Throws: `invalidOption` if the file holds what has no handle here.
  @unsafe
  func rebuild(_ transaction: OpaquePointer, in workshop: Workshop) throws(StoreError) {
    let sources = databases.all
    let names = Set(sources.map { Array($0.name.utf8) })
    let strangers = unsafe try mainKeys(in: transaction).filter { !names.contains($0) }
    guard strangers.isEmpty else {
      let list = strangers.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
      throw StoreError(
        .invalidOption,
        "\(path) also holds \(list), which this library did not make or which is newer than the environment; open it "
          + "again, or copy it without rebuilding it.")
    }
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(mdb_txn_env(transaction), &info)
    // What was packed tightly may take more room for a while.
    let size = unsafe info.me_mapsize + (info.me_last_pgno + 16) * handle.pageSize
    let options = Options(durability: .unsafeNoSync, mapSize: size)
    let target = unsafe try Self.openHandle(workshop.path, options)
    defer { unsafe mdb_env_close(target) }
    let copies = unsafe try Self.openDatabases(Set(sources.map(\.name)), of: target, id, workshop.path, .mustExist)
    for source in sources {
      guard let copy = copies.declared[source.name] else { continue }
      let code = unsafe try append(source, in: transaction, to: copy.handle, of: target)
      guard code == MDB_SUCCESS else {
        // LMDB reports a short write, which is what a full disk gives, as EIO.
        let isFull = code == EIO && handle.isOutOfSpace(workshop.path)
        throw .lmdb(isFull ? ENOSPC : code, "rebuild \(source.name) of \(path)")
      }
    }
  }

  /// - Returns: LMDB's code.
  @unsafe
  private func append(
    _ source: Database, in transaction: OpaquePointer, to copy: MDB_dbi, of target: OpaquePointer
  ) throws(StoreError) -> Int32 {
    var cursor = unsafe try Cursor(transaction, id, source, over: .all)
    var isAtEnd = false
    while !isAtEnd {
      var writer: OpaquePointer?
      var code = unsafe mdb_txn_begin(target, nil, 0, &writer)
      var bytes = 0
      while code == MDB_SUCCESS, bytes < Self.rebuildByteLimit {
        let hasNext: Bool
        do throws(StoreError) { hasNext = try cursor.next() } catch {
          unsafe mdb_txn_abort(writer)
          throw error
        }
        guard hasNext else {
          isAtEnd = true
          break
        }
        bytes += cursor.key.count + cursor.value.count
        code = unsafe cursor.value.withUnsafeBytes { value in
          unsafe cursor.key.withUnsafeBytes { key in
            var mdbKey = unsafe MDB_val(key)
            var mdbValue = unsafe MDB_val(value)
            return unsafe mdb_put(writer, copy, &mdbKey, &mdbValue, UInt32(MDB_APPEND))
          }
        }
      }
      if code == MDB_SUCCESS {
        code = unsafe mdb_txn_commit(writer)
      } else if unsafe writer != nil {
        unsafe mdb_txn_abort(writer)
      }
      guard code == MDB_SUCCESS else { return code }
    }
    return MDB_SUCCESS
  }
}
