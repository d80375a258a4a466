import CLMDB
import Synchronization

/// Cursors of one database that wait for their next read transaction, so that a read with a cursor allocates nothing.
///
/// A thread has a place of its own, mostly. A cursor in the pool refers to no transaction; it can outlive them all.
@safe
@usableFromInline
package final class CursorPool: @unchecked Sendable {
  // Sendable: a cursor belongs to whoever has taken it out of its place, which is one atomic exchange.

  /// The address of a cursor or zero, alone on a cache line.
  private struct Place: ~Copyable {
    let cursor = Atomic<UInt>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
  }

  package let database: Database
  private static let bits = 4
  private static let count = 1 << bits
  private let places: UnsafeMutablePointer<Place>

  package init(of database: Database) {
    self.database = database
    unsafe places = .allocate(capacity: Self.count)
    for index in 0..<Self.count { unsafe (places + index).initialize(to: Place()) }
  }

  deinit {
    for index in 0..<Self.count {
      if let cursor = unsafe OpaquePointer(bitPattern: places[index].cursor.load(ordering: .acquiring)) {
        unsafe mdb_cursor_close(cursor)
      }
    }
    unsafe places.deinitialize(count: Self.count)
    unsafe places.deallocate()
  }

  /// A cursor for a read transaction; `nil` inside a write, whose cursors LMDB ties to it.
  @unsafe
  func take(for transaction: OpaquePointer) -> OpaquePointer? {
    let bits = unsafe place.pointee.cursor.exchange(0, ordering: .acquiring)
    var cursor = unsafe OpaquePointer(bitPattern: bits)
    if unsafe cursor == nil, unsafe mdb_cursor_open(transaction, database.handle, &cursor) != MDB_SUCCESS { return nil }
    guard let cursor = unsafe cursor else { return nil }
    // LMDB renews a cursor for a read transaction only; one that was just opened tells in this way which it has met.
    if unsafe mdb_cursor_renew(transaction, cursor) == MDB_SUCCESS { return unsafe cursor }
    if bits == 0 { unsafe mdb_cursor_close(cursor) } else { unsafe give(cursor) }
    return nil
  }

  /// Keeps a cursor for the next one.
  @unsafe
  func give(_ cursor: OpaquePointer) {
    let displaced = unsafe place.pointee.cursor.exchange(UInt(bitPattern: cursor), ordering: .acquiringAndReleasing)
    if let displaced = unsafe OpaquePointer(bitPattern: displaced) { unsafe mdb_cursor_close(displaced) }
  }

  private var place: UnsafeMutablePointer<Place> {
    unsafe places + currentThreadPlace(bits: Self.bits)
  }
}
