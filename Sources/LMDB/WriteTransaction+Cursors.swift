import CLMDB

/// The cursors by which a write transaction finds its way back to where it has last stored or removed something.
///
/// A search begins at the root of the tree; a cursor that is on the right page, as that of who appends or removes in order
/// mostly is, finds the next key there. It pays for itself from the third change of a database on, and is opened by
/// then. All changes go by it, so that LMDB need not keep it in step with others.
struct WriteCursors {
  /// A bit for each of the databases that have been changed once, and twice.
  private var (once, twice): (UInt64, UInt64) = (0, 0)
  /// The address of each database's cursor, by its handle; 0 for none.
  private var addresses: [UInt] = []

  /// The cursor for a change of a database; `nil` if it is not worth one.
  @unsafe
  mutating func next(for handle: MDB_dbi, in transaction: OpaquePointer) -> OpaquePointer? {
    let place = Int(handle)
    if place < addresses.count, addresses[place] != 0 { return unsafe OpaquePointer(bitPattern: addresses[place]) }
    if place >= UInt64.bitWidth { return nil }
    let bit: UInt64 = 1 << UInt64(place)
    if twice & bit == 0 {
      twice |= once & bit
      once |= bit
      return nil
    }
    return unsafe open(place, in: transaction)
  }

  /// Opens the cursor of a database before its third change.
  @unsafe
  mutating func prepare(_ handle: MDB_dbi, in transaction: OpaquePointer) {
    let place = Int(handle)
    if place >= UInt64.bitWidth || place < addresses.count && addresses[place] != 0 { return }
    _ = unsafe open(place, in: transaction)
  }

  /// The cursor of a database, if it has one.
  @unsafe
  func cursor(of handle: MDB_dbi) -> OpaquePointer? {
    let place = Int(handle)
    return unsafe place < addresses.count ? OpaquePointer(bitPattern: addresses[place]) : nil
  }

  @unsafe
  private mutating func open(_ place: Int, in transaction: OpaquePointer) -> OpaquePointer? {
    var cursor: OpaquePointer?
    // Without one it goes as well.
    guard unsafe mdb_cursor_open(transaction, MDB_dbi(place), &cursor) == MDB_SUCCESS else { return nil }
    if addresses.isEmpty { addresses = Array(repeating: 0, count: UInt64.bitWidth) }
    addresses[place] = UInt(bitPattern: cursor)
    return unsafe cursor
  }

  /// Closes all, as is due before the transaction ends or another begins inside it.
  mutating func close() {
    (once, twice) = (0, 0)
    if addresses.isEmpty { return }
    for address in addresses where address != 0 { unsafe mdb_cursor_close(OpaquePointer(bitPattern: address)) }
    addresses = []
  }
}

/// `mdb_put`, by a cursor if there is one.
@unsafe
@inline(__always)
func put(
  _ transaction: OpaquePointer, _ cursor: OpaquePointer?, _ database: Database, _ key: inout MDB_val,
  _ value: inout MDB_val, _ flags: Int32 = 0
) -> Int32 {
  guard let cursor = unsafe cursor else {
    return unsafe mdb_put(transaction, database.handle, &key, &value, UInt32(flags))
  }
  return unsafe mdb_cursor_put(cursor, &key, &value, UInt32(flags))
}

/// `mdb_del` of a key, by a cursor if there is one.
@unsafe
@inline(__always)
func delete(
  _ transaction: OpaquePointer, _ cursor: OpaquePointer?, _ database: Database, _ key: inout MDB_val
) -> Int32 {
  guard let cursor = unsafe cursor else { return unsafe mdb_del(transaction, database.handle, &key, nil) }
  var value = unsafe MDB_val()
  let code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET)
  return code == MDB_SUCCESS ? unsafe mdb_cursor_del(cursor, 0) : code
}

/// As above, of a key that has been checked.
@unsafe
@inline(__always)
func put(
  _ transaction: OpaquePointer, _ cursor: OpaquePointer?, _ database: Database, _ key: borrowing Span<UInt8>,
  _ value: borrowing Span<UInt8>
) -> Int32 {
  unsafe value.withUnsafeBytes { valueBytes in
    unsafe key.withUnsafeBytes { keyBytes in
      var mdbKey = unsafe MDB_val(keyBytes)
      var mdbValue = unsafe MDB_val(valueBytes)
      return unsafe put(transaction, cursor, database, &mdbKey, &mdbValue)
    }
  }
}

/// As above, of a key that has been checked.
@unsafe
@inline(__always)
func delete(
  _ transaction: OpaquePointer, _ cursor: OpaquePointer?, _ database: Database, _ key: borrowing Span<UInt8>
) -> Int32 {
  unsafe key.withUnsafeBytes { keyBytes in
    var mdbKey = unsafe MDB_val(keyBytes)
    return unsafe delete(transaction, cursor, database, &mdbKey)
  }
}
