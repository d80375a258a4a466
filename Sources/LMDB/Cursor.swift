import CLMDB

/// A place in a range of keys, that moves both ways.
///
/// A fresh cursor stands outside the range: ``next()`` then goes to the first key, ``previous()`` to the last.
///
/// ```swift
/// var cursor = try transaction.cursor(in: users, over: .prefix("a"))
/// while try cursor.next() {
///   print(cursor.key.count, cursor.value.count)
/// }
/// ```
///
/// A step costs about 150 instructions, copies nothing and allocates nothing.
@safe
public struct Cursor: ~Copyable, ~Escapable {
  @usableFromInline enum Position { case outside, on, pastEnd, pastStart }

  @usableFromInline let raw: OpaquePointer
  private let range: KeyRange
  private let name: String
  /// Whether the next key need not be compared with an end.
  @usableFromInline let isUnboundedAbove: Bool
  @usableFromInline var position = Position.outside
  /// Outside the cursor, so that LMDB writes to it directly; copying both in and out is a fifth of a step.
  @usableFromInline let place: UnsafeMutablePointer<CursorPlace>

  @_lifetime(immortal)
  init(
    _ transaction: OpaquePointer, _ owner: EnvironmentID, _ database: Database, over range: KeyRange,
    isSnapshot: Bool = true
  ) throws(StoreError) {
    precondition(database.owner == owner, "The database belongs to another environment than the transaction.")
    var pointer: OpaquePointer?
    let code = unsafe mdb_cursor_open(transaction, database.handle, &pointer)
    guard code == MDB_SUCCESS, let cursor = unsafe pointer else {
      throw .lmdb(code, "open a cursor on \(database.name)")
    }
    unsafe raw = unsafe cursor
    unsafe place = .allocate(capacity: 1)
    unsafe place.initialize(to: CursorPlace(readAhead: ReadAhead(isOff: !isSnapshot)))
    self.range = range
    isUnboundedAbove = range.upper == .unbounded
    name = database.name
  }

  deinit {
    unsafe mdb_cursor_close(raw)
    unsafe place.deallocate()
  }

  /// The key the cursor stands on; empty when it stands on none.
  public var key: Span<UInt8> {
    @inlinable
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe place.pointee.key.span
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The value under the key the cursor stands on; empty when it stands on none.
  public var value: Span<UInt8> {
    @inlinable
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe place.pointee.value.span
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Moves to the next key of the range; from outside, to the first.
  ///
  /// - Returns: Whether there is one. After `false`, ``previous()`` goes to the last key again.
  /// - Throws: `damaged` if a page is broken.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func next() throws(StoreError) -> Bool {
    // A scan is a loop of this, compiled into its caller.
    guard position == .on && isUnboundedAbove else { return try nextInRange() }
    let code = unsafe advance(raw, place)
    if code == 0 { return true }
    try settle(code)
    return settle(isInside: false, otherwise: .pastEnd)
  }

  @usableFromInline
  @_lifetime(self: copy self)
  mutating func nextInRange() throws(StoreError) -> Bool {
    switch position {
    case .on: try move(MDB_NEXT)
    case .pastEnd: return false
    case .outside, .pastStart: try moveToStart()
    }
    return settle(isInside: position == .on && range.admits(belowUpper: key), otherwise: .pastEnd)
  }

  /// Moves to the previous key of the range; from outside, to the last.
  ///
  /// - Returns: Whether there is one. After `false`, ``next()`` goes to the first key again.
  /// - Throws: `damaged` if a page is broken.
  @_lifetime(self: copy self)
  public mutating func previous() throws(StoreError) -> Bool {
    if position == .pastStart { return false }
    try position == .on ? move(MDB_PREV) : moveToEnd()
    return settle(isInside: position == .on && range.admits(aboveLower: key), otherwise: .pastStart)
  }

  /// Moves to the first key of the range that is at or after `key`.
  ///
  /// - Parameter key: 1 to ``Environment/maximumKeyLength`` bytes.
  /// - Returns: Whether there is one.
  /// - Throws: `invalidKey` for a wrong length, `damaged` if a page is broken.
  @_lifetime(self: copy self)
  public mutating func seek(to key: borrowing Span<UInt8>) throws(StoreError) -> Bool {
    guard !key.isEmpty, key.count <= Environment.maximumKeyLength else {
      throw StoreError(
        .invalidKey,
        "A cursor on \(name) cannot look for a key of \(key.count) bytes; use 1 to \(Environment.maximumKeyLength).")
    }
    if range.admits(aboveLower: key) { try move(to: key) } else { try moveToStart() }
    return settle(isInside: position == .on && range.admits(belowUpper: self.key), otherwise: .pastEnd)
  }

  @usableFromInline
  @_lifetime(self: copy self)
  mutating func settle(isInside: Bool, otherwise outside: Position) -> Bool {
    if isInside { return true }
    position = outside
    unsafe (place.pointee.key, place.pointee.value) = (StoredBytes(), StoredBytes())
    return false
  }

  @_lifetime(self: copy self)
  private mutating func moveToStart() throws(StoreError) {
    switch range.lower {
    case .unbounded: try move(MDB_FIRST)
    case .included(let start): try move(to: start.span)
    case .excluded(let start):
      try move(to: start.span)
      if position == .on, key.elementsEqual(start.span) { try move(MDB_NEXT) }
    }
  }

  @_lifetime(self: copy self)
  private mutating func moveToEnd() throws(StoreError) {
    switch range.upper {
    case .unbounded: try move(MDB_LAST)
    case .included(let end):
      try move(to: end.span)
      if position != .on { try move(MDB_LAST) } else if !key.elementsEqual(end.span) { try move(MDB_PREV) }
    case .excluded(let end):
      try move(to: end.span)
      try move(position == .on ? MDB_PREV : MDB_LAST)
    }
  }

  /// The first key at or after `key`; an empty one stands before all others.
  @_lifetime(self: copy self)
  private mutating func move(to key: borrowing Span<UInt8>) throws(StoreError) {
    if key.isEmpty { return try move(MDB_FIRST) }
    let (raw, place) = unsafe (raw, place)
    let code = unsafe key.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      unsafe place.pointee.key = StoredBytes(count: bytes.count, start: start)
      return unsafe LMDB.move(raw, place, MDB_SET_RANGE)
    }
    try settle(code)
  }

  @_lifetime(self: copy self)
  private mutating func move(_ operation: MDB_cursor_op) throws(StoreError) {
    try settle(unsafe LMDB.move(raw, place, operation))
  }

  @usableFromInline
  @_lifetime(self: copy self)
  mutating func settle(_ code: Int32) throws(StoreError) {
    switch code {
    case MDB_SUCCESS: position = .on
    case MDB_NOTFOUND: position = .outside
    default:
      _ = settle(isInside: false, otherwise: .outside)
      throw .lmdb(code, "move a cursor on \(name)")
    }
  }
}

/// What LMDB last answered with: two `MDB_val`s for it.
@unsafe
@usableFromInline
struct CursorPlace {
  @usableFromInline var key = unsafe StoredBytes()
  @usableFromInline var value = unsafe StoredBytes()
  fileprivate var readAhead: ReadAhead
}

/// One step, without the cursor: as a method it would be handed over in more registers than there are.
@unsafe
@usableFromInline
func advance(_ cursor: OpaquePointer, _ place: UnsafeMutablePointer<CursorPlace>) -> Int32 {
  unsafe move(cursor, place, MDB_NEXT)
}

@unsafe
@inline(__always)
private func move(
  _ cursor: OpaquePointer, _ place: UnsafeMutablePointer<CursorPlace>, _ operation: MDB_cursor_op
) -> Int32 {
  let pair = unsafe UnsafeMutableRawPointer(place).assumingMemoryBound(to: MDB_val.self)
  let code = unsafe mdb_cursor_get(cursor, pair, pair + 1, operation)
  if code == MDB_SUCCESS, operation == MDB_NEXT || operation == MDB_PREV, let key = unsafe place.pointee.key.start {
    let length = unsafe place.pointee.key.count &+ place.pointee.value.count
    unsafe place.pointee.readAhead.note(key, length, isRising: operation == MDB_NEXT)
  }
  return code
}
