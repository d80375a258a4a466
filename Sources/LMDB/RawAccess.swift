import CLMDB

/// Traps on another environment's handle, and rejects a key that LMDB would not store.
@inline(__always)
func check(_ key: borrowing Span<UInt8>, _ database: Database, _ owner: EnvironmentID) throws(StoreError) {
  precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
  if key.isEmpty || key.count > Environment.maximumKeyLength { throw invalidLength(of: key.count, database) }
}

private func invalidLength(of count: Int, _ database: Database) -> StoreError {
  StoreError(
    .invalidKey,
    "A key of \(count) bytes for \(database.name) cannot be stored; use 1 to \(Environment.maximumKeyLength) bytes.")
}

/// One `mdb_get`: the bytes stored under a key. The caller ties them to the transaction.
@unsafe
@inline(__always)
func get(
  _ transaction: OpaquePointer, _ owner: EnvironmentID, _ database: Database, _ key: borrowing Span<UInt8>
) throws(StoreError) -> UnsafeBufferPointer<UInt8>? {
  try check(key, database, owner)
  var value = unsafe MDB_val()
  let code = unsafe key.withUnsafeBytes { bytes in
    var mdbKey = unsafe MDB_val(bytes)
    return unsafe mdb_get(transaction, database.handle, &mdbKey, &value)
  }
  if code == MDB_NOTFOUND { return nil }
  guard code == MDB_SUCCESS else { throw .lmdb(code, "read a key of \(database.name)") }
  return unsafe value.bytes
}
