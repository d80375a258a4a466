import CLMDB

/// The values of a list of keys in one snapshot, looked up one after the other and kept on the stack.
///
/// A key that looks like a neighbour of the one before is tried with one step of a cursor (about 150 instructions)
/// before it is searched for (about 1,700): 64 adjacent keys, up or down, cost a tenth of 64 single reads. Keys that
/// look unrelated are never tried so, and cost what single reads cost.
@safe
@usableFromInline
package struct ValueList: ~Copyable, ~Escapable {
  /// Where the cursor stands.
  private enum Position {
    /// Somewhere else.
    case elsewhere
    /// On the key that was looked up last.
    case exact
    /// On the first key above it.
    case above
  }

  private let transaction: OpaquePointer
  private let owner: EnvironmentID
  private let pool: CursorPool
  private let values: UnsafeMutableRawBufferPointer
  private var cursor: OpaquePointer?
  private var position = Position.elsewhere
  private var isDescending = false
  /// The key that the cursor stands on, if it is above.
  private var above = unsafe MDB_val()
  private var lastLength = 0
  private var lastMark: UInt64 = 0
  /// How many keys have been looked up.
  package private(set) var count = 0

  /// How many bytes of memory a list of some keys needs.
  @usableFromInline static func byteCount(for capacity: Int) -> Int {
    unsafe max(1, capacity) * MemoryLayout<MDB_val>.stride
  }

  @usableFromInline
  @_lifetime(borrow reader)
  init(_ reader: borrowing ReadTransaction, _ pool: CursorPool, _ memory: UnsafeMutableRawBufferPointer) {
    precondition(
      pool.database.owner == reader.owner, "The database belongs to another environment than the transaction.")
    unsafe transaction = unsafe reader.raw
    owner = reader.owner
    self.pool = pool
    unsafe values = unsafe memory
    // A single key needs no cursor.
    unsafe cursor = unsafe memory.count > MemoryLayout<MDB_val>.stride ? unsafe pool.take(for: reader.raw) : nil
  }

  deinit {
    if let cursor = unsafe cursor { unsafe pool.give(cursor) }
  }

  /// Looks up the next key.
  @_lifetime(self: copy self)
  package mutating func append(valueForKey key: borrowing Span<UInt8>) throws(StoreError) {
    let isNear = isNear(key)
    if unsafe cursor != nil, isNear || count == 0 {
      try check(key, pool.database, owner)
      unsafe store(try seek(key, isNear: isNear))
    } else {
      position = .elsewhere
      if let found = unsafe try get(transaction, owner, pool.database, key) {
        unsafe store(MDB_val(UnsafeRawBufferPointer(found)))
      } else {
        unsafe store(MDB_val())
      }
    }
  }

  /// The value of a key, by its place in the list, or `nil`.
  package subscript(index: Int) -> Span<UInt8>? {
    @_lifetime(borrow self)
    borrowing get {
      precondition(index >= 0 && index < count)
      let value = unsafe values.loadUnaligned(fromByteOffset: index * MemoryLayout<MDB_val>.stride, as: MDB_val.self)
      guard unsafe value.mv_data != nil else { return nil }
      let span = unsafe Span(_unsafeElements: value.bytes)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Makes a value one that is not there.
  @_lifetime(self: copy self)
  package mutating func removeValue(at index: Int) {
    precondition(index >= 0 && index < count)
    unsafe put(MDB_val(), at: index)
  }

  @_lifetime(self: copy self)
  private mutating func store(_ value: MDB_val) {
    precondition(unsafe (count + 1) * MemoryLayout<MDB_val>.stride <= values.count)
    unsafe put(value, at: count)
    count += 1
  }

  private borrowing func put(_ value: MDB_val, at index: Int) {
    unsafe values.storeBytes(of: value, toByteOffset: index * MemoryLayout<MDB_val>.stride, as: MDB_val.self)
  }

  /// Whether a key is as long as the one before, and the same in the eight bytes before the last three: a guess, by
  /// which the ids of a thousand numbers are near to each other and random ids are not.
  @_lifetime(self: copy self)
  private mutating func isNear(_ key: borrowing Span<UInt8>) -> Bool {
    let mark = key.littleEndian(UInt64.self, at: key.count - 11) ?? 0
    defer {
      lastMark = mark
      lastLength = key.count
    }
    return mark == lastMark && key.count == lastLength
  }

  @_lifetime(self: copy self)
  private mutating func seek(_ key: borrowing Span<UInt8>, isNear: Bool) throws(StoreError) -> MDB_val {
    guard let cursor = unsafe cursor else { return unsafe MDB_val() }
    var found = unsafe MDB_val()
    var value = unsafe MDB_val()
    if isNear && position == .exact {
      let step = isDescending ? MDB_PREV : MDB_NEXT
      let code = unsafe mdb_cursor_get(cursor, &found, &value, step)
      if unsafe code == MDB_SUCCESS && found.equals(key) { return unsafe value }
      if code != MDB_SUCCESS && code != MDB_NOTFOUND { throw failure(code) }
    } else if isNear && position == .above, unsafe above.equals(key) {
      let code = unsafe mdb_cursor_get(cursor, &found, &value, MDB_GET_CURRENT)
      if code != MDB_SUCCESS { throw failure(code) }
      position = .exact
      return unsafe value
    }
    let hasStepped = isNear && position == .exact
    let code = unsafe key.withUnsafeBytes { bytes in
      unsafe found = MDB_val(bytes)
      return unsafe mdb_cursor_get(cursor, &found, &value, MDB_SET_RANGE)
    }
    guard code == MDB_SUCCESS else {
      position = .elsewhere
      if code == MDB_NOTFOUND { return unsafe MDB_val() }
      throw failure(code)
    }
    guard unsafe found.equals(key) else {
      position = .above
      unsafe above = unsafe found
      return unsafe MDB_val()
    }
    // A neighbour, but not in this direction.
    if hasStepped { isDescending.toggle() }
    position = .exact
    return unsafe value
  }

  private borrowing func failure(_ code: Int32) -> StoreError { .lmdb(code, "read keys of \(pool.database.name)") }
}

extension MDB_val {
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
    unsafe try withUnsafeTemporaryAllocation(byteCount: ValueList.byteCount(for: capacity), alignment: 16) { memory in
      try body(unsafe ValueList(self, pool, memory))
    }
  }
}
