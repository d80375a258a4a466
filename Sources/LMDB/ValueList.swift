import CLMDB

/// The values of a list of keys in one snapshot, each looked up when it is first asked for, and kept on the stack.
///
/// Looked up as by ``NeighbourSearch``: neighbours in either direction cost a step each.
@safe
@usableFromInline
package struct ValueList: ~Copyable, ~Escapable {
  private let search: UnsafeMutablePointer<NeighbourSearch>
  private let pool: CursorPool
  private let isSnapshot: Bool
  /// For each key what LMDB said. Without an address, a size of zero stands for a question that has not been put.
  @usableFromInline let values: UnsafeMutableBufferPointer<StoredBytes>

  /// How many bytes of memory a list of some keys needs.
  @usableFromInline static func byteCount(for capacity: Int) -> Int {
    unsafe capacity * MemoryLayout<StoredBytes>.stride
  }

  @usableFromInline
  @_lifetime(borrow reader)
  init(
    _ reader: borrowing ReadTransaction, _ pool: CursorPool, _ memory: UnsafeMutableRawBufferPointer,
    _ search: UnsafeMutablePointer<NeighbourSearch>
  ) {
    precondition(
      pool.database.owner == reader.owner, "The database belongs to another environment than the transaction.")
    self.pool = pool
    isSnapshot = reader.isSnapshot
    unsafe values = unsafe memory.bindMemory(to: StoredBytes.self)
    unsafe values.initialize(repeating: StoredBytes())
    // A single key needs no cursor; lists tend to ascend, and are read from their end.
    let cursor = unsafe values.count > 1 ? pool.take(for: reader.raw) : nil
    unsafe self.search = unsafe search
    unsafe search.initialize(to: NeighbourSearch(reader, pool.database.handle, cursor, isRising: false))
  }

  deinit {
    if let cursor = unsafe search.pointee.cursor { unsafe pool.give(cursor) }
  }

  /// The snapshot that is read.
  package var reader: ReadTransaction {
    @_lifetime(borrow self)
    borrowing get {
      let view = unsafe ReadTransaction(
        search.pointee.transaction, owner: pool.database.owner, isSnapshot: isSnapshot)
      return unsafe _overrideLifetime(view, borrowing: self)
    }
  }

  /// Whether the value at a place has been looked up.
  @inlinable
  package borrowing func isKnown(_ index: Int) -> Bool {
    precondition(unsafe index >= 0 && index < values.count)
    return unsafe values[index].count != 0 || values[index].start != nil
  }

  /// Looks up the value at a place.
  package borrowing func find(_ index: Int, _ key: borrowing Span<UInt8>) throws(StoreError) {
    precondition(unsafe index >= 0 && index < values.count)
    try checkLength(key, pool.database)
    let code = unsafe search.pointee.find(key)
    switch code {
    case MDB_SUCCESS:
      let found = unsafe search.pointee.value.bytes
      unsafe values[index] = StoredBytes(count: found.count, start: found.baseAddress)
    case MDB_NOTFOUND: unsafe values[index] = StoredBytes(count: 1)
    default: throw .lmdb(code, "read keys of \(pool.database.name)")
    }
  }

  /// The value at a place, or `nil`; also if it has not been looked up.
  @inlinable
  package subscript(index: Int) -> Span<UInt8>? {
    @_lifetime(borrow self)
    borrowing get {
      precondition(unsafe index >= 0 && index < values.count)
      guard unsafe values[index].start != nil else { return nil }
      let span = unsafe values[index].span
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }
}

extension ReadTransaction {
  /// Runs `body` with room for the values of some keys of the pool's database, on the stack for up to 64.
  @inlinable
  package borrowing func withValueList<R>(
    capacity: Int, _ pool: CursorPool, _ body: (consuming ValueList) throws -> R
  ) rethrows -> R {
    unsafe try withUnsafeTemporaryAllocation(of: NeighbourSearch.self, capacity: 1) { search in
      unsafe try withUnsafeTemporaryAllocation(byteCount: ValueList.byteCount(for: capacity), alignment: 16) { memory in
        try body(unsafe ValueList(self, pool, memory, search.baseAddress.unsafelyUnwrapped))
      }
    }
  }
}
