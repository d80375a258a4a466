import CLMDB

/// Looks up keys one after the other, each of which may be a neighbour of the one before.
///
/// A key that looks like a neighbour is tried with one step of a cursor (about 140 instructions) before it is searched
/// for (about 1,700), whichever way the keys go. Two keys between which the cursor has stepped have nothing between
/// them, so that a run of neighbours that are not there costs one step, not a search each. Keys that look unrelated are
/// never tried so, and cost what single reads cost.
@safe
@usableFromInline
struct NeighbourSearch {
  let transaction: OpaquePointer
  private let database: MDB_dbi
  /// Without one, each key is searched for.
  let cursor: OpaquePointer?
  /// Whether the last step went to a higher key.
  private var isRising: Bool
  /// The record on which the cursor stands; the key is empty if it stands on none.
  private var key = unsafe MDB_val()
  /// What was found with success; else the value under ``key``.
  private(set) var value = unsafe MDB_val()
  /// The key from which the cursor has stepped to ``key``, if it has.
  private var origin = unsafe MDB_val()
  /// Whether the cursor stands on the key that was looked for last.
  private var isHit = false
  private var isFirst = true
  private var readAhead: ReadAhead
  private var lastLength = 0
  private var lastMark: UInt64 = 0

  init(
    _ reader: borrowing ReadTransaction, _ database: MDB_dbi, _ cursor: OpaquePointer?, isRising: Bool
  ) {
    unsafe transaction = unsafe reader.raw
    readAhead = ReadAhead(isOff: !reader.isSnapshot)
    self.database = database
    unsafe self.cursor = unsafe cursor
    self.isRising = isRising
  }

  /// Looks up a key that has been checked.
  ///
  /// - Returns: `MDB_SUCCESS`, and ``value`` is what is stored under it; `MDB_NOTFOUND`; or what is wrong.
  @inline(__always)
  mutating func find(_ wanted: borrowing Span<UInt8>) -> Int32 {
    let isNear = isNear(wanted)
    if let cursor = unsafe cursor, isNear || isFirst {
      isFirst = false
      return unsafe isNear && key.mv_size != 0 ? step(cursor, towards: wanted) : seek(cursor, wanted)
    }
    unsafe key = MDB_val()
    return unsafe wanted.withUnsafeBytes { bytes in
      var wanted = unsafe MDB_val(bytes)
      return unsafe mdb_get(transaction, database, &wanted, &value)
    }
  }

  /// Whether a key is as long as the one before, and the same in the eight bytes before the last three: a guess, by
  /// which the ids of a thousand numbers are near to each other and random ids are not.
  @inline(__always)
  private mutating func isNear(_ key: borrowing Span<UInt8>) -> Bool {
    let mark = key.littleEndian(UInt64.self, at: key.count - 11) ?? 0
    let isNear = mark == lastMark && key.count == lastLength
    lastMark = mark
    lastLength = key.count
    return isNear
  }

  @unsafe
  @inline(__always)
  private mutating func step(_ cursor: OpaquePointer, towards wanted: borrowing Span<UInt8>) -> Int32 {
    if !isHit {
      let side = unsafe key.side(of: wanted)
      if side == 0 {
        isHit = true
        return MDB_SUCCESS
      }
      if (side > 0) != isRising {
        if unsafe origin.mv_size != 0 {
          return unsafe origin.isBefore(wanted, isRising) ? MDB_NOTFOUND : seek(cursor, wanted)
        }
        // A search ends above a key that is not there.
        isRising.toggle()
      }
    }
    let from = unsafe key
    let code = unsafe mdb_cursor_get(cursor, &key, &value, isRising ? MDB_NEXT : MDB_PREV)
    switch code {
    case MDB_SUCCESS:
      unsafe origin = unsafe from
      fetchNext()
      isHit = unsafe key.equals(wanted)
      if isHit { return MDB_SUCCESS }
      if unsafe key.isBefore(wanted, isRising) { return unsafe seek(cursor, wanted) }
    case MDB_NOTFOUND:
      // LMDB leaves the cursor where it is.
      isHit = false
    default:
      unsafe key = MDB_val()
      return code
    }
    if unsafe from.isBefore(wanted, isRising) { return MDB_NOTFOUND }
    // A neighbour, but in the other direction.
    isRising.toggle()
    return unsafe seek(cursor, wanted)
  }

  @unsafe
  @inline(never)
  private mutating func seek(_ cursor: OpaquePointer, _ wanted: borrowing Span<UInt8>) -> Int32 {
    unsafe origin = MDB_val()
    let code = unsafe wanted.withUnsafeBytes { bytes in
      unsafe key = MDB_val(bytes)
      return unsafe mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
    }
    isHit = unsafe code == MDB_SUCCESS && key.equals(wanted)
    if code == MDB_SUCCESS { fetchNext() } else { unsafe key = MDB_val() }
    return code != MDB_SUCCESS || isHit ? code : MDB_NOTFOUND
  }

  @inline(__always)
  private mutating func fetchNext() {
    guard let start = unsafe key.mv_data else { return }
    unsafe readAhead.note(start, key.mv_size + value.mv_size, isRising: isRising)
  }
}

extension MDB_val {
  @inline(__always)
  fileprivate func equals(_ other: borrowing Span<UInt8>) -> Bool {
    unsafe Span(_unsafeElements: bytes).elementsEqual(other)
  }

  /// Above zero for a key that comes after this one, below for one that comes before.
  @inline(__always)
  fileprivate func side(of other: borrowing Span<UInt8>) -> Int {
    unsafe other.compare(Span(_unsafeElements: bytes))
  }

  /// Whether a key comes later in a direction.
  @inline(__always)
  fileprivate func isBefore(_ other: borrowing Span<UInt8>, _ isRising: Bool) -> Bool {
    let side = unsafe side(of: other)
    return isRising ? side > 0 : side < 0
  }
}
