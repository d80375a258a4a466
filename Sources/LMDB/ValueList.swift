import CLMDB

/// The values of a list of keys in one snapshot, each looked up when it is first asked for, and kept on the stack.
///
/// A key that looks like a neighbour of the one before is tried with one step of a cursor (about 120 instructions)
/// before it is searched for (about 1,700), in whichever direction the last such step went. Keys that look unrelated are
/// never tried so, and cost what single reads cost.
@safe
@usableFromInline
package struct ValueList: ~Copyable, ~Escapable {
  /// Where the cursor stands.
  fileprivate enum Position {
    /// Somewhere else.
    case elsewhere
    /// On the key that was looked up last.
    case exact
    /// On the first key above it.
    case above
  }

  /// What changes from look-up to look-up.
  @safe
  @usableFromInline
  struct Progress {
    fileprivate var position = Position.elsewhere
    /// Lists tend to ascend, and are read from their end.
    fileprivate var isDescending = true
    fileprivate var isFirst = true
    fileprivate var lastLength = 0
    fileprivate var lastMark: UInt64 = 0
    /// The key that the cursor stands on, if it is above.
    fileprivate var above = unsafe MDB_val()

    @usableFromInline init() {}
  }

  private let transaction: OpaquePointer
  private let owner: EnvironmentID
  private let pool: CursorPool
  /// For each key what LMDB said. Without an address, a size of zero stands for a question that has not been put.
  private let values: UnsafeMutableBufferPointer<MDB_val>
  private let progress: UnsafeMutablePointer<Progress>
  private let cursor: OpaquePointer?

  /// How many bytes of memory a list of some keys needs.
  @usableFromInline static func byteCount(for capacity: Int) -> Int { unsafe capacity * MemoryLayout<MDB_val>.stride }

  @usableFromInline
  @_lifetime(borrow reader)
  init(
    _ reader: borrowing ReadTransaction, _ pool: CursorPool, _ memory: UnsafeMutableRawBufferPointer,
    _ progress: UnsafeMutablePointer<Progress>
  ) {
    precondition(
      pool.database.owner == reader.owner, "The database belongs to another environment than the transaction.")
    unsafe transaction = unsafe reader.raw
    owner = reader.owner
    self.pool = pool
    unsafe values = unsafe memory.bindMemory(to: MDB_val.self)
    unsafe values.initialize(repeating: MDB_val())
    unsafe self.progress = unsafe progress
    unsafe progress.initialize(to: Progress())
    // A single key needs no cursor.
    unsafe cursor = unsafe values.count > 1 ? unsafe pool.take(for: reader.raw) : nil
  }

  deinit {
    if let cursor = unsafe cursor { unsafe pool.give(cursor) }
  }

  /// The snapshot that is read.
  package var reader: ReadTransaction {
    @_lifetime(borrow self)
    borrowing get {
      let view = unsafe ReadTransaction(transaction, owner: owner)
      return unsafe _overrideLifetime(view, borrowing: self)
    }
  }

  /// Whether the value at a place has been looked up.
  package borrowing func isKnown(_ index: Int) -> Bool {
    precondition(unsafe index >= 0 && index < values.count)
    return unsafe values[index].mv_size != 0 || values[index].mv_data != nil
  }

  /// Looks up the value at a place.
  package borrowing func find(_ index: Int, _ key: borrowing Span<UInt8>) throws(StoreError) {
    precondition(unsafe index >= 0 && index < values.count)
    try check(key, pool.database, owner)
    let isNear = isNear(key)
    var value: MDB_val
    if let cursor = unsafe cursor, unsafe isNear || progress.pointee.isFirst {
      unsafe value = unsafe try seek(cursor, key, isNear: isNear)
    } else {
      unsafe progress.pointee.position = .elsewhere
      let found = unsafe try get(transaction, owner, pool.database, key)
      unsafe value = unsafe found.map { unsafe MDB_val(UnsafeRawBufferPointer($0)) } ?? MDB_val()
    }
    unsafe progress.pointee.isFirst = false
    if unsafe value.mv_data == nil { unsafe value.mv_size = 1 }
    unsafe values[index] = unsafe value
  }

  /// The value at a place, or `nil`; also if it has not been looked up.
  package subscript(index: Int) -> Span<UInt8>? {
    @_lifetime(borrow self)
    borrowing get {
      precondition(unsafe index >= 0 && index < values.count)
      guard unsafe values[index].mv_data != nil else { return nil }
      let span = unsafe Span(_unsafeElements: values[index].bytes)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Whether a key is as long as the one before, and the same in the eight bytes before the last three: a guess, by
  /// which the ids of a thousand numbers are near to each other and random ids are not.
  private borrowing func isNear(_ key: borrowing Span<UInt8>) -> Bool {
    let mark = key.littleEndian(UInt64.self, at: key.count - 11) ?? 0
    defer {
      unsafe progress.pointee.lastMark = mark
      unsafe progress.pointee.lastLength = key.count
    }
    return unsafe mark == progress.pointee.lastMark && key.count == progress.pointee.lastLength
  }

  @unsafe
  private borrowing func seek(
    _ cursor: OpaquePointer, _ key: borrowing Span<UInt8>, isNear: Bool
  ) throws(StoreError) -> MDB_val {
    var found = unsafe MDB_val()
    var value = unsafe MDB_val()
    let hasStepped = unsafe isNear && progress.pointee.position == .exact
    if hasStepped {
      let step = unsafe progress.pointee.isDescending ? MDB_PREV : MDB_NEXT
      let code = unsafe mdb_cursor_get(cursor, &found, &value, step)
      if unsafe code == MDB_SUCCESS && found.equals(key) { return unsafe value }
      if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code) }
    } else if unsafe isNear && progress.pointee.position == .above, unsafe progress.pointee.above.equals(key) {
      let code = unsafe mdb_cursor_get(cursor, &found, &value, MDB_GET_CURRENT)
      if code != MDB_SUCCESS { throw failure(code) }
      unsafe progress.pointee.position = .exact
      return unsafe value
    }
    let code = unsafe key.withUnsafeBytes { bytes in
      unsafe found = MDB_val(bytes)
      return unsafe mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE)
    }
    guard code == MDB_SUCCESS else {
      unsafe progress.pointee.position = .elsewhere
      if code == MDB_NOTFOUND { return unsafe MDB_val() }
      throw failure(code)
    }
    guard unsafe found.equals(key) else {
      unsafe progress.pointee.position = .above
      unsafe progress.pointee.above = unsafe found
      return unsafe MDB_val()
    }
    // A neighbour, but not in this direction.
    if hasStepped { unsafe progress.pointee.isDescending.toggle() }
    unsafe progress.pointee.position = .exact
    return unsafe value
  }

  private borrowing func failure(_ code: Int32) -> StoreError { .lmdb(code, "read keys of \(pool.database.name)") }
}

extension MDB_val {
  @inline(__always)
  fileprivate func equals(_ key: borrowing Span<UInt8>) -> Bool {
    unsafe mv_size == key.count && Span(_unsafeElements: bytes).compare(key) == 0
  }
}

extension ReadTransaction {
  /// Runs `body` with room for the values of some keys of the pool's database, on the stack for up to 64.
  @inlinable
  package borrowing func withValueList<R>(
    capacity: Int, _ pool: CursorPool, _ body: (consuming ValueList) throws -> R
  ) rethrows -> R {
    unsafe try withUnsafeTemporaryAllocation(of: ValueList.Progress.self, capacity: 1) { progress in
      unsafe try withUnsafeTemporaryAllocation(byteCount: ValueList.byteCount(for: capacity), alignment: 16) { memory in
        try body(unsafe ValueList(self, pool, memory, progress.baseAddress.unsafelyUnwrapped))
      }
    }
  }
}
