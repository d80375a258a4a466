import CLMDB
import Synchronization

/// The read transactions of an environment, and the gate that all of its snapshots pass.
///
/// A slot holds one transaction, kept reset between reads: renewing costs 180 instructions where beginning costs 800
/// and takes the mutex of LMDB's reader table. A thread looks at a slot of its own first, so that reading threads
/// share no cache line; taking the slot is also what shows the thread to somebody who wants the map for himself
/// (`SnapshotTable+Gate.swift`). There are half as many slots as LMDB has, which leaves some to other processes.
@safe
@usableFromInline
final class SnapshotTable: @unchecked Sendable {
  // Sendable: a slot's transaction belongs to the thread that is its owner; `raw` changes only while nobody is inside.

  /// One transaction and the thread that uses it, alone on a cache line.
  @safe
  struct Slot: ~Copyable {
    let owner = Atomic<ThreadID>(0)
    fileprivate(set) var transaction: OpaquePointer?
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
  }

  /// A slot that a thread has taken, with the transaction in it.
  @safe
  @usableFromInline
  struct Snapshot {
    @usableFromInline let transaction: OpaquePointer
    fileprivate let slot: UnsafeMutablePointer<Slot>
  }

  /// Reasons to leave the fast path.
  enum Barrier {
    static let resizing: UInt8 = 1
    static let closed: UInt8 = 2
    static let poisoned: UInt8 = 4
    static let awaited: UInt8 = 8
  }

  /// What only the slow path looks at.
  struct Shared {
    /// How many threads wait for a slot.
    var waiting = 0
    /// Why the environment cannot be used any more.
    var reason: StoreError?
  }

  let path: String
  let waitLimit: Duration
  /// The LMDB handle; only for a thread that is inside the gate, holds the writer lock, or has closed the gate.
  var raw: OpaquePointer
  let barrier = Atomic<UInt8>(0)
  let shared = Monitor(Shared())
  let slots: UnsafeMutablePointer<Slot>
  let count: Int
  private let begun = Atomic<Int>(0)
  private let generation = ForkGuard.start()
  private let shift: UInt

  init(_ raw: OpaquePointer, path: String, limit: Int, waitLimit: Duration) {
    unsafe self.raw = unsafe raw
    self.path = path
    self.waitLimit = waitLimit
    // A power of two, so that a thread finds its slot with one multiplication.
    let bits = Int.bitWidth - 1 - max(1, limit / 2).leadingZeroBitCount
    shift = UInt(UInt.bitWidth - max(1, bits))
    count = 1 << bits
    let memory = UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Slot>.stride, alignment: 64)
    unsafe slots = unsafe memory.bindMemory(to: Slot.self, capacity: count)
    for index in 0..<count { unsafe (slots + index).initialize(to: Slot()) }
  }

  deinit {
    unsafe slots.deinitialize(count: count)
    unsafe slots.deallocate()
  }

  /// How many slots have a transaction.
  var transactions: Int { begun.load(ordering: .sequentiallyConsistent) }

  /// Whether this is a child that `fork()` made of the process that opened the environment.
  var isForked: Bool { ForkGuard.generation != generation }

  /// A slot with a transaction on the newest commit, or `nil` if that takes ``acquireSlowly()``.
  @inline(__always)
  func acquire() -> Snapshot? {
    let thread = currentThread()
    let slot = unsafe slots + home(of: thread)
    guard unsafe take(slot, thread) else { return nil }
    // The order matters: whoever raises the barrier looks at the slots afterwards.
    if barrier.load(ordering: .sequentiallyConsistent) == 0, !isForked,
      let transaction = unsafe slot.pointee.transaction, unsafe mdb_txn_renew(transaction) == MDB_SUCCESS
    {
      return unsafe Snapshot(transaction: transaction, slot: slot)
    }
    unsafe leave(slot)
    return nil
  }

  /// Ends the snapshot and keeps the transaction for the next read.
  @inline(__always)
  func release(_ snapshot: Snapshot) {
    if isForked { return }
    unsafe mdb_txn_reset(snapshot.transaction)
    unsafe leave(snapshot.slot)
  }

  /// A slot with a transaction on the newest commit, after waiting for a closed gate or a free slot.
  ///
  /// - Returns: `nil` if another process grew the file beyond the map, which must grow first.
  /// - Throws: `readersFull`, `closed`, `poisoned` or `forked`.
  @inline(never)
  func acquireSlowly() throws(StoreError) -> Snapshot? {
    let thread = currentThread()
    var mustHaveTransaction = false
    while true {
      let slot = unsafe try enter(thread, mustHaveTransaction)
      let code = unsafe begin(in: slot)
      if code == MDB_SUCCESS, let transaction = unsafe slot.pointee.transaction {
        return unsafe Snapshot(transaction: transaction, slot: slot)
      }
      unsafe leave(slot)
      switch code {
      case MDB_READERS_FULL where !mustHaveTransaction && transactions > 0: mustHaveTransaction = true
      case MDB_READERS_FULL: throw readersFull(code)
      case MDB_MAP_RESIZED where !isInside(thread): return nil
      default: throw failure(code, "begin a read of \(path)")
      }
    }
  }

  /// Runs `body` inside the gate, without a transaction: neither the map nor the handle goes away meanwhile.
  ///
  /// - Throws: `readersFull`, `closed`, `poisoned` or `forked`.
  @inline(__always)
  func withHandle<R>(_ body: (OpaquePointer) -> R) throws(StoreError) -> R {
    let thread = currentThread()
    let home = unsafe slots + home(of: thread)
    if unsafe take(home, thread) {
      defer { unsafe leave(home) }
      if barrier.load(ordering: .sequentiallyConsistent) == 0, !isForked { return unsafe body(raw) }
    }
    return unsafe try withHandleAfterWaiting(thread, body)
  }

  @inline(never)
  private func withHandleAfterWaiting<R>(
    _ thread: ThreadID, _ body: (OpaquePointer) -> R
  ) throws(StoreError) -> R {
    try checkUsable()
    // A thread that is inside needs no second slot.
    if isInside(thread) { return unsafe body(raw) }
    let slot = unsafe try enter(thread, false)
    defer { unsafe leave(slot) }
    return unsafe body(raw)
  }

  /// A slot, after waiting for a closed gate or a free slot.
  @unsafe
  private func enter(
    _ thread: ThreadID, _ mustHaveTransaction: Bool
  ) throws(StoreError) -> UnsafeMutablePointer<Slot> {
    while true {
      try checkUsable()
      let isResizing = isResizing
      // A thread that is inside holds up the resizer anyway; if it waited here, both would wait for ever.
      let isNested = isResizing && isInside(thread)
      if isResizing && !isNested { waitForGate() }
      guard let slot = unsafe findSlot(thread, mustHaveTransaction) ?? waitForSlot(thread, mustHaveTransaction) else {
        throw readersFull(MDB_READERS_FULL)
      }
      if isNested || barrier.load(ordering: .sequentiallyConsistent) & ~Barrier.awaited == 0 { return unsafe slot }
      unsafe leave(slot)
    }
  }

  /// Frees every transaction; nobody may be inside.
  func drain() {
    for index in 0..<count {
      guard let transaction = unsafe slots[index].transaction else { continue }
      unsafe mdb_txn_abort(transaction)
      unsafe slots[index].transaction = nil
    }
    begun.store(0, ordering: .relaxed)
  }

  /// Renews the slot's transaction, or begins one.
  @unsafe
  private func begin(in slot: UnsafeMutablePointer<Slot>) -> Int32 {
    if let transaction = unsafe slot.pointee.transaction {
      let code = unsafe mdb_txn_renew(transaction)
      if code == MDB_SUCCESS || code == MDB_MAP_RESIZED { return code }
      unsafe mdb_txn_abort(transaction)
      unsafe slot.pointee.transaction = nil
      begun.subtract(1, ordering: .relaxed)
    }
    // Counted before it is there: a thread that finds LMDB's table full in between must know that it can wait for it.
    begun.add(1, ordering: .sequentiallyConsistent)
    var code = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &slot.pointee.transaction)
    if code == MDB_READERS_FULL {
      // Slots of killed processes are free to take, once somebody looks.
      unsafe mdb_reader_check(raw, nil)
      code = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &slot.pointee.transaction)
    }
    if code != MDB_SUCCESS {
      unsafe slot.pointee.transaction = nil
      begun.subtract(1, ordering: .sequentiallyConsistent)
    }
    return code
  }

  @unsafe
  private func findSlot(_ thread: ThreadID, _ mustHaveTransaction: Bool) -> UnsafeMutablePointer<Slot>? {
    let home = home(of: thread)
    for step in 0..<count {
      let slot = unsafe slots + ((home + step) & (count - 1))
      guard unsafe take(slot, thread) else { continue }
      if unsafe !mustHaveTransaction || slot.pointee.transaction != nil { return unsafe slot }
      unsafe slot.pointee.owner.store(0, ordering: .sequentiallyConsistent)
    }
    return nil
  }

  /// Waits until somebody leaves, unless this thread is inside: those who would have to leave may wait for it.
  @unsafe
  private func waitForSlot(_ thread: ThreadID, _ mustHaveTransaction: Bool) -> UnsafeMutablePointer<Slot>? {
    if isInside(thread) { return nil }
    shared.update { shared in
      shared.waiting += 1
      raise(Barrier.awaited)
    }
    defer {
      shared.update { shared in
        shared.waiting -= 1
        if shared.waiting == 0 { lower(Barrier.awaited) }
      }
    }
    return unsafe shared.wait(atMost: waitLimit) { _ in unsafe findSlot(thread, mustHaveTransaction) }
  }

  @unsafe
  @inline(__always)
  private func take(_ slot: UnsafeMutablePointer<Slot>, _ thread: ThreadID) -> Bool {
    unsafe slot.pointee.owner.compareExchange(expected: 0, desired: thread, ordering: .sequentiallyConsistent)
      .exchanged
  }

  @unsafe
  @inline(__always)
  private func leave(_ slot: UnsafeMutablePointer<Slot>) {
    unsafe slot.pointee.owner.store(0, ordering: .sequentiallyConsistent)
    if barrier.load(ordering: .sequentiallyConsistent) != 0 { shared.update { _ in } }
  }

  @inline(__always)
  private func home(of thread: ThreadID) -> Int {
    // Thread ids are addresses; the multiplication (Fibonacci hashing) spreads them. The mask is for a single slot.
    Int((thread &* 0x9E37_79B9_7F4A_7C15) >> shift) & (count - 1)
  }
}
