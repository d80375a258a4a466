import CLMDB

/// A value that may be stored in two rows; valid as long as the transaction it was read in.
@safe
package struct SplitValue: ~Escapable {
  private let first: UnsafeBufferPointer<UInt8>
  private let second: UnsafeBufferPointer<UInt8>?
  private let isSplit: Bool

  @_lifetime(immortal)
  init(_ first: UnsafeBufferPointer<UInt8>, _ second: UnsafeBufferPointer<UInt8>?, isSplit: Bool) {
    unsafe self.first = unsafe first
    unsafe self.second = unsafe second
    self.isSplit = isSplit
  }

  /// What is stored under the key.
  package var head: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe Span(_unsafeElements: first)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// What is stored under the key with a zero at its end; empty if that was not asked for.
  package var tail: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe Span(_unsafeElements: second ?? UnsafeBufferPointer(start: nil, count: 0))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Whether there should be a second row and is none.
  package var isTailMissing: Bool { unsafe isSplit && second == nil }
}

extension ReadTransaction {
  /// The value stored under a key and, if it says that it goes on there, the one under the same key with a zero at its
  /// end: the very next key, which costs a step instead of another walk down the tree.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes.
  ///   - cursors: Cursors of the database; not for use inside a write.
  ///   - isSplit: Whether a value has its end in the next row.
  /// - Returns: Both; `nil` if there is nothing under the key.
  /// - Throws: `invalidKey` for a wrong length; `damaged` if a page is broken; `io`.
  @_lifetime(borrow self)
  package borrowing func value(
    forKey key: borrowing Span<UInt8>, with cursors: CursorPool, isSplit: (Span<UInt8>) -> Bool
  ) throws(StoreError) -> SplitValue? {
    try check(key, cursors.database, owner)
    guard let cursor = unsafe cursors.take(for: raw) else {
      throw StoreError(.io, "A cursor on \(cursors.database.name) could not be opened; try again outside of a write.")
    }
    defer { unsafe cursors.give(cursor) }
    var found = unsafe MDB_val()
    var code = unsafe key.withUnsafeBytes { bytes in
      var mdbKey = unsafe MDB_val(bytes)
      return unsafe mdb_cursor_get(cursor, &mdbKey, &found, MDB_SET)
    }
    if code == MDB_NOTFOUND { return nil }
    guard code == MDB_SUCCESS else { throw .lmdb(code, "read a key of \(cursors.database.name)") }
    let head = unsafe found.bytes
    guard unsafe isSplit(Span(_unsafeElements: head)) else {
      let value = unsafe SplitValue(head, nil, isSplit: false)
      return unsafe _overrideLifetime(value, borrowing: self)
    }
    var next = unsafe MDB_val()
    code = unsafe mdb_cursor_get(cursor, &next, &found, MDB_NEXT)
    guard code == MDB_SUCCESS || code == MDB_NOTFOUND else {
      throw .lmdb(code, "read a key of \(cursors.database.name)")
    }
    let nextKey = unsafe next.bytes
    let isTail =
      unsafe code == MDB_SUCCESS && nextKey.count == key.count + 1 && nextKey[key.count] == 0
      && key.elementsEqual(Span(_unsafeElements: nextKey).extracting(0..<key.count))
    let value = unsafe SplitValue(head, isTail ? found.bytes : nil, isSplit: true)
    return unsafe _overrideLifetime(value, borrowing: self)
  }
}
