import CLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The same calls with a key, and a value, that is in place.

extension ReadTransaction {
  /// The value stored under `key`, or `nil`; valid until the transaction ends.
  @_lifetime(borrow self)
  package borrowing func value(forKey key: ShortBytes, in database: Database) throws(StoreError) -> Span<UInt8>? {
    guard let found = unsafe try get(raw, owner, database, key) else { return nil }
    let span = unsafe Span(_unsafeElements: found)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The first key that is not below `start`, or `nil`; valid until the transaction ends.
  ///
  /// Costs a search in the tree and a cursor, but nothing of Swift's, unlike ``cursor(in:over:)``.
  @_lifetime(borrow self)
  package borrowing func key(atOrAfter start: ShortBytes, in database: Database) throws(StoreError) -> Span<UInt8>? {
    try check(start, database, owner)
    let found = unsafe try start.withValue { key in unsafe place(of: key, MDB_SET_RANGE, in: database) }.get()
    guard let found = unsafe found else { return nil }
    let span = unsafe Span(_unsafeElements: found.bytes)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The last key, or `nil`; valid until the transaction ends. Costs as ``key(atOrAfter:in:)``.
  @_lifetime(borrow self)
  package borrowing func lastKey(in database: Database) throws(StoreError) -> Span<UInt8>? {
    precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
    guard let found = unsafe try place(of: MDB_val(), MDB_LAST, in: database).get() else { return nil }
    let span = unsafe Span(_unsafeElements: found.bytes)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The key at which a new cursor arrives.
  @unsafe
  fileprivate borrowing func place(
    of key: MDB_val, _ operation: MDB_cursor_op, in database: Database
  ) -> Result<MDB_val?, StoreError> {
    var cursor: OpaquePointer?
    var (key, value) = unsafe (key, MDB_val())
    var code = unsafe mdb_cursor_open(raw, database.handle, &cursor)
    if code == MDB_SUCCESS {
      code = unsafe mdb_cursor_get(cursor, &key, &value, operation)
      unsafe mdb_cursor_close(cursor)
    }
    if code == MDB_NOTFOUND { return unsafe .success(nil) }
    return code == MDB_SUCCESS
      ? unsafe .success(key) : unsafe .failure(.lmdb(code, "look for a key of \(database.name)"))
  }
}

extension WriteTransaction {
  /// The value stored under `key`, or `nil`; valid until the next change.
  ///
  /// Costs less than that of ``reader`` where the last change of the database was near, as does ``key(atOrAfter:in:)``.
  @_lifetime(borrow self)
  package borrowing func value(forKey key: ShortBytes, in database: Database) throws(StoreError) -> Span<UInt8>? {
    guard let found = unsafe try get(raw, owner, database, key, cursors.cursor(of: database.handle)) else {
      return nil
    }
    let span = unsafe Span(_unsafeElements: found)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The first key that is not below `start`, or `nil`; valid until the next change.
  @_lifetime(borrow self)
  package borrowing func key(atOrAfter start: ShortBytes, in database: Database) throws(StoreError) -> Span<UInt8>? {
    try check(start, database, owner)
    guard let cursor = unsafe cursors.cursor(of: database.handle) else {
      let found = unsafe try start.withValue { key in unsafe reader.place(of: key, MDB_SET_RANGE, in: database) }.get()
      guard let found = unsafe found else { return nil }
      let span = unsafe Span(_unsafeElements: found.bytes)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
    var found = unsafe MDB_val()
    let code = unsafe start.withValue { key in
      var value = unsafe MDB_val()
      let code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
      unsafe found = unsafe key
      return code
    }
    if code == MDB_NOTFOUND { return nil }
    guard code == MDB_SUCCESS else { throw .lmdb(code, "look for a key of \(database.name)") }
    let span = unsafe Span(_unsafeElements: found.bytes)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The key before one that has just been stored, or `nil`; valid until the next change.
  ///
  /// Costs a step where the change went by a cursor, and a search otherwise.
  @_lifetime(borrow self)
  package borrowing func key(before key: ShortBytes, in database: Database) throws(StoreError) -> Span<UInt8>? {
    try check(key, database, owner)
    var cursor = unsafe cursors.cursor(of: database.handle)
    let isOwn = unsafe cursor == nil
    var code = MDB_SUCCESS
    if isOwn { code = unsafe mdb_cursor_open(raw, database.handle, &cursor) }
    defer { if isOwn { unsafe mdb_cursor_close(cursor) } }
    var found = unsafe MDB_val()
    if code == MDB_SUCCESS {
      code = unsafe key.withValue { key in
        var value = unsafe MDB_val()
        let isThere = unsafe !isOwn && isOn(key, cursor)
        if !isThere {
          let code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET)
          if code != MDB_SUCCESS { return code }
        }
        return unsafe mdb_cursor_get(cursor, &found, &value, MDB_PREV)
      }
    }
    if code == MDB_NOTFOUND { return nil }
    guard code == MDB_SUCCESS else { throw .lmdb(code, "look for a key of \(database.name)") }
    let span = unsafe Span(_unsafeElements: found.bytes)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Has look-ups in a database go by a cursor from now on, as changes do from the third on; worth it for more than two.
  @_lifetime(self: copy self)
  package mutating func openCursor(in database: Database) {
    precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
    unsafe cursors.prepare(database.handle, in: raw)
  }

  /// Stores a value under a `key` that is not there yet.
  ///
  /// - Returns: Whether it was not there; nothing has changed otherwise.
  @_lifetime(self: copy self)
  package mutating func insert(
    _ value: borrowing Span<UInt8>, forKey key: ShortBytes, in database: Database
  ) throws(StoreError) -> Bool {
    let code = try store(value, key, database, MDB_NOOVERWRITE)
    if code == MDB_KEYEXIST { return false }
    try finishSet(code, key.count + value.count, database)
    return true
  }

  /// Stores a value under `key`, replacing the one that is there.
  @_lifetime(self: copy self)
  package mutating func set(
    _ value: borrowing Span<UInt8>, forKey key: ShortBytes, in database: Database
  ) throws(StoreError) {
    try finishSet(try store(value, key, database, 0), key.count + value.count, database)
  }

  /// - Returns: LMDB's code.
  @inline(__always)
  @_lifetime(self: copy self)
  private mutating func store(
    _ value: borrowing Span<UInt8>, _ key: ShortBytes, _ database: Database, _ flags: Int32
  ) throws(StoreError) -> Int32 {
    try check(key, database, owner)
    try check(value, database)
    let (raw, cursor) = unsafe (raw, cursor(changing: database))
    return unsafe key.withValue { key in
      unsafe value.withUnsafeBytes { bytes in
        var value = unsafe MDB_val(bytes)
        return unsafe put(raw, cursor, database, &key, &value, flags)
      }
    }
  }

  /// Stores a value under `key`, replacing the one that is there.
  @_lifetime(self: copy self)
  package mutating func set(
    _ value: ShortBytes, forKey key: ShortBytes, in database: Database
  ) throws(StoreError) {
    try check(key, database, owner)
    let cursor = unsafe cursor(changing: database)
    let code = unsafe key.withValue { key in
      unsafe value.withValue { value in unsafe put(raw, cursor, database, &key, &value) }
    }
    try finishSet(code, key.count + value.count, database)
  }

  /// Stores a value under the UTF-8 bytes of `key`, replacing the one that is there.
  @_lifetime(self: copy self)
  package mutating func set(_ value: ShortBytes, forKey key: String, in database: Database) throws(StoreError) {
    let (raw, owner, cursor) = unsafe (raw, owner, cursor(changing: database))
    let code = try key.withKey { (bytes) throws(StoreError) in
      try check(bytes, database, owner)
      return unsafe value.withValue { value in
        unsafe bytes.withUnsafeBytes { bytes in
          var mdbKey = unsafe MDB_val(bytes)
          return unsafe put(raw, cursor, database, &mdbKey, &value)
        }
      }
    }
    try finishSet(code, key.utf8.count + value.count, database)
  }

  /// Removes `key` and its value.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  @_lifetime(self: copy self)
  package mutating func removeValue(forKey key: ShortBytes, in database: Database) throws(StoreError) -> Bool {
    try check(key, database, owner)
    let cursor = unsafe cursor(changing: database)
    let code = unsafe key.withValue { key in unsafe delete(raw, cursor, database, &key) }
    return try finishRemoval(code, key.count, database)
  }
}

extension ShortBytes {
  @unsafe
  @inline(__always)
  fileprivate func withValue<R>(_ body: (inout MDB_val) -> R) -> R {
    unsafe withUnsafeBytes { start, count in
      var value = unsafe MDB_val(UnsafeRawBufferPointer(start: start, count: count))
      return unsafe body(&value)
    }
  }
}

extension Cursor {
  /// As ``seek(to:)-(Span<UInt8>)``.
  @_lifetime(self: copy self)
  package mutating func seek(to key: ShortBytes) throws(StoreError) -> Bool {
    let bytes = key.array
    return try seek(to: bytes.span)
  }
}

/// Whether a cursor stands on a key.
@unsafe
private func isOn(_ key: MDB_val, _ cursor: OpaquePointer?) -> Bool {
  var (here, value) = unsafe (MDB_val(), MDB_val())
  guard unsafe mdb_cursor_get(cursor, &here, &value, MDB_GET_CURRENT) == MDB_SUCCESS else { return false }
  return unsafe here.mv_size == key.mv_size && memcmp(here.mv_data, key.mv_data, key.mv_size) == 0
}

@unsafe
private func get(
  _ transaction: OpaquePointer, _ owner: EnvironmentID, _ database: Database, _ key: ShortBytes,
  _ cursor: OpaquePointer? = nil
) throws(StoreError) -> UnsafeBufferPointer<UInt8>? {
  try check(key, database, owner)
  var value = unsafe MDB_val()
  let code = unsafe key.withValue { key in
    unsafe cursor == nil
      ? mdb_get(transaction, database.handle, &key, &value) : mdb_cursor_get(cursor, &key, &value, MDB_SET)
  }
  if code == MDB_NOTFOUND { return nil }
  guard code == MDB_SUCCESS else { throw .lmdb(code, "read a key of \(database.name)") }
  return unsafe value.bytes
}

@inline(__always)
private func check(_ key: ShortBytes, _ database: Database, _ owner: EnvironmentID) throws(StoreError) {
  precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
  if key.count == 0 { throw StoreError(.invalidKey, "An empty key for \(database.name) cannot be stored.") }
}
