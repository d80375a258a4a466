import CLMDB

/// A value that may be stored in two rows; valid as long as the transaction it was read in.
@safe
@usableFromInline
package struct SplitValue: ~Escapable {
  @usableFromInline let rows: SplitRows

  @_lifetime(immortal)
  init(_ rows: SplitRows) { unsafe self.rows = unsafe rows }

  /// What is stored under the key.
  @inlinable
  package var head: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe Span(_unsafeElements: rows.first)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// What is stored under the key with a zero at its end; empty if the head does not say that it goes on there.
  @inlinable
  package var tail: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe Span(_unsafeElements: rows.second)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Names the place in the map where the head lies: known before its bytes are there.
  @inlinable
  package var place: UInt64 { unsafe UInt64(UInt(bitPattern: rows.first.baseAddress)) }

  /// Whether there should be a second row and is none.
  @inlinable
  package var isTailMissing: Bool { unsafe rows.isTailMissing }
}

/// The two rows in the mapped file; nothing keeps them there.
@unsafe
@usableFromInline
struct SplitRows {
  @usableFromInline var first = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)
  @usableFromInline var second = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)
  @usableFromInline var isTailMissing = false
}

/// How a value says that its end is in the next row.
package struct SplitMark: Sendable {
  let offset: Int
  let byte: UInt8

  /// - Parameters:
  ///   - byte: What stands in a value that goes on.
  ///   - offset: Where.
  package init(_ byte: UInt8, at offset: Int) {
    self.byte = byte
    self.offset = offset
  }
}

extension ReadTransaction {
  /// The value stored under a key and, if it says that it goes on there, the one under the same key with a zero at its
  /// end: the very next key, which costs a step instead of another walk down the tree.
  ///
  /// - Parameters:
  ///   - key: 1 to ``Environment/maximumKeyLength`` bytes.
  ///   - cursors: Cursors of the database; not for use inside a write.
  ///   - mark: How a value says that it goes on.
  ///   - table: What is going to be asked for the ``SplitValue/place``: fetched from memory together with the value.
  /// - Returns: Both; `nil` if there is nothing under the key.
  /// - Throws: `invalidKey` for a wrong length; `damaged` if a page is broken; `io`.
  @_lifetime(borrow self)
  package borrowing func value(
    forKey key: borrowing Span<UInt8>, with cursors: CursorPool, splitBy mark: SplitMark, fetching table: AtomicTable
  ) throws(StoreError) -> SplitValue? {
    guard let rows = unsafe try rows(raw, owner, cursors, key, mark, table) else { return nil }
    let value = unsafe SplitValue(rows)
    return unsafe _overrideLifetime(value, borrowing: self)
  }

  /// As ``value(forKey:with:splitBy:fetching:)-(Span<UInt8>,_,_,_)``; the key is the UTF-8 bytes of a text.
  @_lifetime(borrow self)
  package borrowing func value(
    forKey key: String, with cursors: CursorPool, splitBy mark: SplitMark, fetching table: AtomicTable
  ) throws(StoreError) -> SplitValue? {
    let (raw, owner) = unsafe (raw, owner)
    let rows = unsafe try key.withKey { key throws(StoreError) -> SplitRows? in
      unsafe try LMDB.rows(raw, owner, cursors, key, mark, table)
    }
    guard let rows = unsafe rows else { return nil }
    let value = unsafe SplitValue(rows)
    return unsafe _overrideLifetime(value, borrowing: self)
  }
}

/// Fetches the start of some bytes, after which the processor goes on by itself: whoever looks at the first of them will
/// not wait for the others once more.
@unsafe
@inline(__always)
private func prefetch(_ bytes: UnsafeBufferPointer<UInt8>) {
  guard let start = bytes.baseAddress else { return }
  for offset in stride(from: 0, to: min(bytes.count, 1024), by: 64) { unsafe clmdb_prefetch(start + offset) }
}

@unsafe
@inline(__always)
private func rows(
  _ transaction: OpaquePointer, _ owner: EnvironmentID, _ cursors: CursorPool, _ key: borrowing Span<UInt8>,
  _ mark: SplitMark, _ table: AtomicTable
) throws(StoreError) -> SplitRows? {
  try check(key, cursors.database, owner)
  guard let cursor = unsafe cursors.take(for: transaction) else {
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
  var rows = unsafe SplitRows(first: found.bytes)
  unsafe prefetch(rows.first)
  unsafe table.prefetch(SplitValue(rows).place)
  guard unsafe rows.first.count > mark.offset, unsafe rows.first[mark.offset] == mark.byte else { return unsafe rows }
  var next = unsafe MDB_val()
  code = unsafe mdb_cursor_get(cursor, &next, &found, MDB_NEXT)
  guard code == MDB_SUCCESS || code == MDB_NOTFOUND else {
    throw .lmdb(code, "read a key of \(cursors.database.name)")
  }
  let nextKey = unsafe next.bytes
  let isTail =
    unsafe code == MDB_SUCCESS && nextKey.count == key.count + 1 && nextKey[key.count] == 0
    && key.elementsEqual(Span(_unsafeElements: nextKey).extracting(0..<key.count))
  if isTail { unsafe rows.second = unsafe found.bytes }
  unsafe rows.isTailMissing = !isTail
  return unsafe rows
}
