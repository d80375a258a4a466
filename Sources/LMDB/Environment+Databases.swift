import CLMDB

extension Environment {
  /// The handles of a file's databases.
  struct Databases: Equatable {
    /// Those that the caller named.
    var declared: [String: Database] = [:]
    /// Those that were found beside them, as far as there are handles, and that have the usual order.
    var others: [String: Database] = [:]

    var all: [Database] { Array(declared.values) + Array(others.values) }
  }

  /// Opens the databases, in a map that may be too small: another process grows the file while this one opens it, or
  /// has left no room for a new database.
  ///
  /// - Parameters:
  ///   - names: What the caller declares.
  ///   - raw: A handle that nobody else has yet.
  ///   - id: The owner of the handles.
  ///   - path: For messages.
  ///   - mode: Whether missing databases are made.
  /// - Returns: The handles, which are valid for as long as `raw`.
  /// - Throws: `unknownDatabase` if one is missing and may not be made; `damaged`, `diskFull` or `io`.
  static func openDatabases(
    _ names: Set<String>, of raw: OpaquePointer, _ id: EnvironmentID, _ path: String, _ mode: Options.Mode
  ) throws(StoreError) -> Databases {
    var growths = 0
    while true {
      do throws(StoreError) {
        return unsafe try openDatabasesOnce(names, of: raw, id, path, mode)
      } catch {
        guard [MDB_MAP_RESIZED, MDB_MAP_FULL].contains(error.underlying), growths < 8 else { throw error }
        growths += 1
        // Nobody has this handle yet, so that the map may go.
        var info = unsafe MDB_envinfo()
        var stat = MDB_stat()
        unsafe mdb_env_info(raw, &info)
        unsafe mdb_env_stat(raw, &stat)
        let used = unsafe (info.me_last_pgno + 1) * Int(stat.ms_psize)
        let wanted = unsafe 2 * max(used, info.me_mapsize)
        guard let size = AddressSpace.available(wanted, atLeast: used + (1 << 16)) else { throw error }
        let code = unsafe mdb_env_set_mapsize(raw, size)
        guard code == MDB_SUCCESS else { throw .lmdb(code, "map \(path)") }
      }
    }
  }

  private static func openDatabasesOnce(
    _ names: Set<String>, of raw: OpaquePointer, _ id: EnvironmentID, _ path: String, _ mode: Options.Mode
  ) throws(StoreError) -> Databases {
    let isReadOnly = mode == .readOnly
    var pointer: OpaquePointer?
    let begun = unsafe mdb_txn_begin(raw, nil, isReadOnly ? UInt32(MDB_RDONLY) : 0, &pointer)
    guard begun == MDB_SUCCESS, let transaction = unsafe pointer else {
      throw .lmdb(begun, "open the databases of \(path)")
    }
    var databases = Databases()
    do throws(StoreError) {
      // Gives LMDB the order of the main database, without which it cannot walk it.
      var main: MDB_dbi = 0
      _ = unsafe mdb_dbi_open(transaction, nil, 0, &main)
      if !isReadOnly { unsafe try checkLength(of: raw, id, path) }
      // In one order, so that the same names get the same handles when the file is opened again.
      for name in names.sorted() {
        let handle = unsafe try open(name, in: transaction, isReadOnly ? 0 : UInt32(MDB_CREATE), path)
        databases.declared[name] = Database(name: name, handle: handle, owner: id)
      }
      for name in unsafe try mainKeys(in: transaction, id) where !names.contains(name) {
        // What has no handle left, or is no database of ours, is for others to use.
        guard let handle = unsafe try? open(name, in: transaction, 0, path) else { continue }
        databases.others[name] = Database(name: name, handle: handle, owner: id)
      }
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    // Committed even when it only read: handles opened in an aborted transaction are not valid.
    let code = unsafe mdb_txn_commit(transaction)
    guard code == MDB_SUCCESS else { throw .lmdb(code, "make the databases of \(path)") }
    return databases
  }

  @unsafe
  private static func open(
    _ name: String, in transaction: OpaquePointer, _ options: UInt32, _ path: String
  ) throws(StoreError) -> MDB_dbi {
    var handle: MDB_dbi = 0
    var flags: UInt32 = 0
    var code = unsafe mdb_dbi_open(transaction, name, options, &handle)
    if code == MDB_SUCCESS { code = unsafe mdb_dbi_flags(transaction, handle, &flags) }
    if code == MDB_SUCCESS && flags != 0 { code = MDB_INCOMPATIBLE }
    if code == MDB_NOTFOUND {
      throw StoreError(.unknownDatabase, "There is no database \(name) in \(path); check what made the file.")
    }
    guard code == MDB_SUCCESS else { throw .lmdb(code, "open the database \(name) of \(path)") }
    return handle
  }

  /// The keys of the main database, which are the names of the others.
  ///
  /// - Returns: In their order; one that is no text or has a NUL, which LMDB would not find by its name, is left out.
  @unsafe
  private static func mainKeys(in transaction: OpaquePointer, _ id: EnvironmentID) throws(StoreError) -> [String] {
    var names: [String] = []
    var cursor = unsafe try Cursor(
      transaction, id, Database(name: "the main database", handle: 1, owner: id), over: .all)
    while try cursor.next() {
      let bytes = [UInt8](copying: cursor.key)
      if !bytes.contains(0), let name = String(validating: bytes, as: UTF8.self) { names.append(name) }
    }
    return names
  }
}
