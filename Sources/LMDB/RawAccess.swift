import CLMDB

/// Traps on another environment's handle, and rejects a key that LMDB would not store.
@inline(__always)
func check(_ key: borrowing Span<UInt8>, _ database: Database, _ owner: EnvironmentID) throws(StoreError) {
  precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
  try checkLength(key, database)
}

/// Rejects a key that LMDB would not store.
@inline(__always)
func checkLength(_ key: borrowing Span<UInt8>, _ database: @autoclosure () -> Database) throws(StoreError) {
  if key.isEmpty || key.count > Environment.maximumKeyLength { throw invalidLength(of: key.count, database()) }
}

private func invalidLength(of count: Int, _ database: Database) -> StoreError {
  StoreError(
    .invalidKey,
    "A key of \(count) bytes for \(database.name) cannot be stored; use 1 to \(Environment.maximumKeyLength) bytes.")
}

/// Rejects a value that is too long for LMDB.
@inline(__always)
func check(_ value: borrowing Span<UInt8>, _ database: Database) throws(StoreError) {
  if value.count > Environment.maximumValueLength { throw invalidLength(ofValue: value.count, database) }
}

private func invalidLength(ofValue count: Int, _ database: Database) -> StoreError {
  StoreError(
    .invalidValue,
    "A value of \(count) bytes for \(database.name) is over the limit of \(Environment.maximumValueLength); keep large "
      + "data in a file.")
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

extension String {
  /// Runs `body` with the UTF-8 bytes, without a copy if the string is a native one.
  @inline(__always)
  func withKey<R>(_ body: (Span<UInt8>) throws(StoreError) -> R) throws(StoreError) -> R {
    let result = unsafe withStoredUTF8 { bytes -> Result<R, StoreError> in
      do throws(StoreError) {
        return .success(try body(unsafe Span(_unsafeElements: bytes)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
