import CLMDB
import Synchronization

/// Idle read transactions, kept so that a read renews one instead of beginning one.
///
/// Renewing costs 180 instructions where beginning costs 800 and takes the mutex of the reader table.
@safe
final class ReaderPool: @unchecked Sendable {
  // Sendable: `raw` is set once and LMDB's read functions are thread-safe with MDB_NOTLS.
  private let raw: OpaquePointer
  private let idleLimit: Int
  private let idle = Mutex<[Idle]>([])

  /// A reset transaction that no thread uses.
  @safe
  private struct Idle: @unchecked Sendable {
    // Sendable: whoever takes it out of the pool is its only user.
    let transaction: OpaquePointer
  }

  init(_ raw: OpaquePointer, limit: Int) {
    unsafe self.raw = unsafe raw
    idleLimit = max(1, limit / 2)
  }

  /// A transaction on the newest commit; give it back with ``release(_:)``.
  func acquire() throws(StoreError) -> OpaquePointer {
    if let idle = idle.withLock({ $0.popLast() }) {
      let code = unsafe mdb_txn_renew(idle.transaction)
      if code == MDB_SUCCESS { return unsafe idle.transaction }
      unsafe mdb_txn_abort(idle.transaction)
    }
    var pointer: OpaquePointer?
    var code = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &pointer)
    if code == MDB_READERS_FULL {
      // Slots of killed processes are free to take, once somebody looks.
      _ = unsafe mdb_reader_check(raw, nil)
      code = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &pointer)
    }
    guard code == MDB_SUCCESS, let transaction = unsafe pointer else { throw .lmdb(code, "begin a read") }
    return unsafe transaction
  }

  /// Ends the snapshot and keeps the transaction for the next read.
  func release(_ transaction: OpaquePointer) {
    unsafe mdb_txn_reset(transaction)
    let reset = unsafe Idle(transaction: transaction)
    let isKept = idle.withLock { idle in
      guard idle.count < idleLimit else { return false }
      idle.append(reset)
      return true
    }
    if !isKept { unsafe mdb_txn_abort(transaction) }
  }

  /// Frees every idle transaction; none may be in use.
  func drain() {
    for idle in idle.withLock({ idle in
      defer { idle = [] }
      return idle
    }) {
      unsafe mdb_txn_abort(idle.transaction)
    }
  }
}
