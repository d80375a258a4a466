import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Fills a data file with databases of any kind: all of it becomes visible, or nothing.
///
/// For tools that restore dumps: unlike ``Environment`` it takes each flag that LMDB has, and the main database. A new
/// file is made aside, in transactions of ``batchLimit`` bytes, and gets its name once it is complete and flushed. An
/// existing file is changed in one transaction.
///
/// Belongs to one thread. Blocks for the disk, and in an existing file for other writers.
@safe
package struct BulkLoader: ~Copyable {
  /// How many bytes a transaction of a new file holds.
  package static let batchLimit = 16 << 20
  private static let databaseLimit: MDB_dbi = 4096

  /// A database of this loader.
  package struct Target: Sendable, Hashable {
    package let name: [UInt8]?
    let handle: MDB_dbi
    let hasDuplicates: Bool
  }

  /// What a record does to one that is there.
  package enum Mode: Sendable, Hashable {
    /// Replaces it; in a database of duplicates another value is one more.
    case replace
    /// Leaves it; in a database of duplicates another value is one more.
    case keep
    /// Comes after all others, whatever the order says.
    case append
  }

  private struct Entry {
    let target: Target
    let key: Range<Int>
    let value: Range<Int>
    let mode: Mode
    let isSameKey: Bool
  }

  private let raw: OpaquePointer
  private let place: Place
  private var mapSize: Int
  /// The one transaction on an existing file.
  private var transaction: OpaquePointer?
  private var batch: [Entry] = []
  private var bytes: [UInt8] = []
  private var isOpen = true
  /// How many records met one of the same key, or in a database of duplicates the same one. Of ``Mode/replace`` they took
  /// its place; of ``Mode/keep`` they were left out.
  package private(set) var met = 0

  /// Where the data file is, and where it is made.
  private enum Place {
    case new(directory: String, data: String, workshop: Workshop)
    case existing(data: String)

    init(_ path: String, isFile: Bool) throws(StoreError) {
      let data = isFile ? path : "\(path)/data.mdb"
      if FileSystem.exists(data) {
        self = .existing(data: data)
      } else {
        let workshop = try Workshop(isFile ? FileSystem.workPath(beside: path, "loading") : "\(path)/.loading")
        self = .new(directory: FileSystem.parent(of: data), data: data, workshop: workshop)
      }
    }

    /// Removes what has been made, if it did not get its name.
    func clear() {
      if case .new(_, _, let workshop) = self { try? workshop.remove() }
    }
  }

  /// Prepares a load.
  ///
  /// - Parameters:
  ///   - path: A directory that exists, or the data file itself.
  ///   - isFile: Whether it is the data file itself.
  ///   - mapSize: The least size of the map; it grows for a new file, and does not for an existing one.
  ///   - synchronizes: Whether an existing file is flushed when it is committed.
  /// - Throws: `accessDenied`, `damaged`, `busy` and other errors of opening.
  package init(_ path: String, isFile: Bool, mapSize: Int, synchronizes: Bool = true) throws(StoreError) {
    let place = try Place(path, isFile: isFile)
    do throws(StoreError) {
      (unsafe raw, self.mapSize) = unsafe try Self.open(
        place, path, isFile: isFile, max(mapSize, 1 << 20), synchronizes)
    } catch {
      place.clear()
      throw error
    }
    self.place = place
  }

  private static func open(
    _ place: Place, _ path: String, isFile: Bool, _ mapSize: Int, _ synchronizes: Bool
  ) throws(StoreError) -> (OpaquePointer, Int) {
    var flags = UInt32(MDB_NOTLS)
    let openPath: String
    switch place {
    case .existing:
      openPath = path
      flags |= (isFile ? UInt32(MDB_NOSUBDIR) : 0) | (synchronizes ? 0 : UInt32(MDB_NOSYNC))
    case .new(_, _, let workshop):
      openPath = workshop.path
      flags |= UInt32(MDB_NOLOCK | MDB_NOSYNC | MDB_NOMEMINIT)
    }
    var pointer: OpaquePointer?
    guard unsafe mdb_env_create(&pointer) == MDB_SUCCESS, let raw = unsafe pointer else {
      throw StoreError(.io, "There is no memory for an LMDB handle; end other programs.")
    }
    unsafe mdb_env_set_maxdbs(raw, databaseLimit)
    unsafe mdb_env_set_mapsize(raw, mapSize)
    let code = unsafe mdb_env_open(raw, openPath, flags, 0o644)
    if code != MDB_SUCCESS {
      unsafe mdb_env_close(raw)
      throw .lmdb(code, "open \(path) for loading")
    }
    var info = unsafe MDB_envinfo()
    unsafe mdb_env_info(raw, &info)
    return unsafe (raw, info.me_mapsize)
  }

  deinit {
    if unsafe transaction != nil { unsafe mdb_txn_abort(transaction) }
    unsafe mdb_env_close(raw)
    if isOpen { place.clear() }
  }

  // MARK: Filling

  /// Opens a database, and makes it if it is missing.
  ///
  /// - Parameters:
  ///   - name: Its name, or `nil` for the main one.
  ///   - flags: LMDB's persistent flags.
  /// - Returns: The database.
  /// - Throws: `invalidOption` if it is there with other flags, or its name has a zero byte; `mapFull`.
  package mutating func database(_ name: [UInt8]?, flags: UInt32) throws(StoreError) -> Target {
    let title = name.map { String(decoding: $0, as: UTF8.self) }
    if name?.contains(0) == true || name?.isEmpty == true {
      throw StoreError(.invalidOption, "A database whose name is empty or has a zero byte cannot be made; rename it.")
    }
    if let name, name.count > Environment.maximumKeyLength {
      throw StoreError(
        .invalidOption,
        "A database whose name has \(name.count) bytes cannot be made; LMDB takes 1 to \(Environment.maximumKeyLength)."
      )
    }
    try flush()
    return unsafe try growing { (transaction) throws(StoreError) in
      var handle: MDB_dbi = 0
      var found: UInt32 = 0
      var code = unsafe mdb_dbi_open(transaction, title, flags | UInt32(MDB_CREATE), &handle)
      if code == MDB_SUCCESS { code = unsafe mdb_dbi_flags(transaction, handle, &found) }
      if code == MDB_SUCCESS, found & 0x7E != flags { code = MDB_INCOMPATIBLE }
      if code == MDB_INCOMPATIBLE {
        throw StoreError(
          .invalidOption,
          "The database \(title ?? "main") is there with other flags than the input has; load into another file.")
      }
      if code == MDB_DBS_FULL {
        throw StoreError(
          .invalidOption,
          "The database \(title ?? "main") cannot be made: one load has at most \(Self.databaseLimit); split the input."
        )
      }
      guard code == MDB_SUCCESS else { throw .lmdb(code, "make the database \(title ?? "main")") }
      return Target(name: name, handle: handle, hasDuplicates: flags & UInt32(MDB_DUPSORT) != 0)
    }
  }

  /// Stores a record.
  ///
  /// - Parameters:
  ///   - key: 1 to 511 bytes.
  ///   - value: The value.
  ///   - target: A database of this loader.
  ///   - mode: What becomes of a record that is there.
  ///   - isSameKey: For ``Mode/append``: whether the record before has the same key.
  /// - Throws: `invalidKey`, `diskFull`, `io`; `mapFull` for an existing file, after which it is unchanged.
  package mutating func put(
    _ key: borrowing Span<UInt8>, _ value: borrowing Span<UInt8>, in target: Target, _ mode: Mode,
    isSameKey: Bool = false
  ) throws(StoreError) {
    guard !key.isEmpty, key.count <= Environment.maximumKeyLength else {
      throw StoreError(
        .invalidKey, "A key of \(key.count) bytes cannot be stored; LMDB takes 1 to \(Environment.maximumKeyLength).")
    }
    let start = bytes.count
    unsafe key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    let middle = bytes.count
    unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    batch.append(
      Entry(
        target: target, key: start..<middle, value: middle..<bytes.count, mode: mode, isSameKey: isSameKey))
    if bytes.count >= Self.batchLimit { try flush() }
  }

  /// Makes all of it visible, once it is on the device.
  ///
  /// - Throws: `diskFull`, `io` or `mapFull`; then nothing is visible.
  package mutating func finish() throws(StoreError) {
    try flush()
    switch place {
    case .existing:
      guard let transaction = unsafe transaction else { return }
      unsafe self.transaction = nil
      let code = unsafe mdb_txn_commit(transaction)
      if code != MDB_SUCCESS { throw commitFailure(code) }
    case .new(let directory, let data, let workshop):
      let code = unsafe mdb_env_sync(raw, 1)
      if code != MDB_SUCCESS { throw .lmdb(code, "flush \(data)") }
      let folder = try File(directory, .directory)
      // Keeps out a program that is just making its own.
      _ = try folder.lock(waiting: true)
      defer { folder.unlock() }
      guard !FileSystem.exists(data) else {
        throw StoreError(.busy, "\(data) was made by another program meanwhile; nothing was loaded.")
      }
      try FileSystem.rename(workshop.data, to: data)
      isOpen = false
      try workshop.remove()
      try folder.synchronize()
    }
  }

  // MARK: Transactions

  private mutating func flush() throws(StoreError) {
    if batch.isEmpty { return }
    met += unsafe try growing { [batch, bytes] (transaction) throws(StoreError) in
      unsafe try Self.store(batch, bytes, in: transaction)
    }
    batch.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Runs `body` in the transaction of an existing file, or in one of its own, with a larger map if need be.
  private mutating func growing<R>(_ body: (OpaquePointer) throws(StoreError) -> R) throws(StoreError) -> R {
    if case .existing(let data) = place { return unsafe try body(try beginOnce(data)) }
    while true {
      do throws(StoreError) {
        return unsafe try inOwnTransaction(body)
      } catch {
        guard error.code == .mapFull, let size = AddressSpace.available(2 * mapSize, atLeast: mapSize + (1 << 16))
        else {
          throw error
        }
        let code = unsafe mdb_env_set_mapsize(raw, size)
        if code != MDB_SUCCESS { throw .lmdb(code, "make the map larger") }
        mapSize = size
      }
    }
  }

  private mutating func beginOnce(_ data: String) throws(StoreError) -> OpaquePointer {
    if let transaction = unsafe transaction { return unsafe transaction }
    var pointer: OpaquePointer?
    let code = unsafe mdb_txn_begin(raw, nil, 0, &pointer)
    guard code == MDB_SUCCESS, let begun = unsafe pointer else { throw .lmdb(code, "write to \(data)") }
    unsafe transaction = unsafe begun
    return unsafe begun
  }

  private func commitFailure(_ code: Int32) -> StoreError {
    let path: String
    switch place {
    case .existing(let data): path = data
    case .new(_, let data, _): path = data
    }
    // LMDB reports a short write, which is what a full disk gives, as EIO.
    let isFull = code == EIO && FileSystem.isFull(FileSystem.parent(of: path))
    return .lmdb(isFull ? ENOSPC : code, "write to \(path)")
  }

  private func inOwnTransaction<R>(_ body: (OpaquePointer) throws(StoreError) -> R) throws(StoreError) -> R {
    var pointer: OpaquePointer?
    let begun = unsafe mdb_txn_begin(raw, nil, 0, &pointer)
    guard begun == MDB_SUCCESS, let transaction = unsafe pointer else { throw .lmdb(begun, "begin a transaction") }
    let result: R
    do throws(StoreError) {
      result = unsafe try body(transaction)
    } catch {
      unsafe mdb_txn_abort(transaction)
      throw error
    }
    let code = unsafe mdb_txn_commit(transaction)
    if code != MDB_SUCCESS { throw commitFailure(code) }
    return result
  }

  /// Stores a batch; returns how many records met one that was there.
  @unsafe
  private static func store(
    _ batch: [Entry], _ bytes: [UInt8], in transaction: OpaquePointer
  ) throws(StoreError) -> Int {
    var met = 0
    let code = unsafe bytes.withUnsafeBytes { bytes -> Int32 in
      for entry in batch {
        var key = unsafe MDB_val(UnsafeRawBufferPointer(rebasing: bytes[entry.key]))
        var value = unsafe MDB_val(UnsafeRawBufferPointer(rebasing: bytes[entry.value]))
        let flags: Int32
        switch entry.mode {
        case .replace, .keep: flags = entry.target.hasDuplicates ? MDB_NODUPDATA : MDB_NOOVERWRITE
        case .append:
          flags = entry.isSameKey ? MDB_APPENDDUP : MDB_APPEND
          // The order of the input is right, whatever LMDB thinks of it.
          unsafe mdb_set_compare(transaction, entry.target.handle, inputOrder)
          unsafe mdb_set_dupsort(transaction, entry.target.handle, inputOrder)
        }
        var code = unsafe mdb_put(transaction, entry.target.handle, &key, &value, UInt32(flags))
        if code == MDB_KEYEXIST, entry.mode != .append {
          met += 1
          code = MDB_SUCCESS
          if entry.mode == .replace && !entry.target.hasDuplicates {
            // LMDB has put what is there in its place.
            unsafe value = unsafe MDB_val(UnsafeRawBufferPointer(rebasing: bytes[entry.value]))
            code = unsafe mdb_put(transaction, entry.target.handle, &key, &value, 0)
          }
        }
        if code != MDB_SUCCESS { return code }
      }
      return MDB_SUCCESS
    }
    if code == MDB_KEYEXIST {
      throw StoreError(
        .invalidKey, "A record is not larger than the one before, so it cannot be appended; leave out -a.")
    }
    if code != MDB_SUCCESS { throw .lmdb(code, "store a record") }
    return met
  }
}

/// The order in which records come: whatever is not the same is larger.
@unsafe
private func inputOrder(_ a: UnsafePointer<MDB_val>?, _ b: UnsafePointer<MDB_val>?) -> Int32 {
  guard let a = unsafe a?.pointee, let b = unsafe b?.pointee else { return 1 }
  return unsafe a.bytes.elementsEqual(b.bytes) ? 0 : 1
}
