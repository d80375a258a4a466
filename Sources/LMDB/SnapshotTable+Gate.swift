import CLMDB
import Synchronization

// Who wants the map for himself (to resize, close or replace it) raises the barrier and waits until every slot is
// empty; who enters takes a slot first and looks at the barrier afterwards. So one of the two sees the other.

extension SnapshotTable {
  /// Runs `body` while no thread of this process is inside. The caller holds the writer lock.
  ///
  /// - Parameters:
  ///   - limit: How long to wait for open snapshots.
  ///   - body: May replace the map or the handle.
  /// - Returns: Whether `body` ran; `false` if a snapshot stayed open, or if this thread has one itself.
  /// - Throws: What `body` throws.
  func withoutReaders(atMost limit: Duration, _ body: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
    if isInside(currentThread()) { return false }
    shared.update { _ in raise(Barrier.resizing) }
    defer { shared.update { _ in lower(Barrier.resizing) } }
    guard shared.wait(atMost: limit, { _ in openSnapshots.isEmpty ? true : nil }) != nil else { return false }
    try body()
    return true
  }

  /// The threads that have a snapshot open, once per snapshot.
  var openSnapshots: [ThreadID] {
    (0..<count).compactMap { index in
      let owner = unsafe slots[index].owner.load(ordering: .sequentiallyConsistent)
      return owner == 0 ? nil : owner
    }
  }

  /// Names the threads that have a snapshot open, for a message.
  var openSnapshotsText: String {
    let threads = openSnapshots
    let mine = currentThread()
    let names = threads.map { $0 == mine ? "this thread" : "thread 0x\(String($0, radix: 16))" }
    return "\(threads.count) open snapshot\(threads.count == 1 ? "" : "s") (\(names.joined(separator: ", ")))"
  }

  /// Whether the thread has a snapshot open.
  func isInside(_ thread: ThreadID) -> Bool {
    (0..<count).contains { unsafe slots[$0].owner.load(ordering: .relaxed) == thread }
  }

  /// Whether somebody has the map for himself, or waits for that.
  var isResizing: Bool { barrier.load(ordering: .sequentiallyConsistent) & Barrier.resizing != 0 }

  /// Sets a bit of the barrier; under the lock of ``shared``, so that whoever waits for it to go does not miss that.
  func raise(_ bit: UInt8) { barrier.bitwiseOr(bit, ordering: .sequentiallyConsistent) }

  /// Clears a bit of the barrier, under the same lock.
  func lower(_ bit: UInt8) { barrier.bitwiseAnd(~bit, ordering: .sequentiallyConsistent) }

  /// Waits while somebody has the map for himself, which is bounded by his own limit.
  func waitForGate() {
    shared.wait { _ in isResizing ? nil : () }
  }
}

// MARK: - The end of an environment

extension SnapshotTable {
  /// Throws if the environment was closed, poisoned, or inherited through `fork()`.
  func checkUsable() throws(StoreError) {
    if isForked {
      throw StoreError(
        .forked,
        "\(path) was opened before this process was forked; open it again in the child, or call exec.")
    }
    let bits = barrier.load(ordering: .sequentiallyConsistent)
    guard bits & (Barrier.closed | Barrier.poisoned) != 0 else { return }
    if let reason = shared.update({ $0.reason }) { throw reason }
  }

  /// Whether ``end(_:_:)`` was called for a failure.
  var isPoisoned: Bool { barrier.load(ordering: .sequentiallyConsistent) & Barrier.poisoned != 0 }
  /// Whether the handle is gone.
  var isClosed: Bool { barrier.load(ordering: .sequentiallyConsistent) & Barrier.closed != 0 }

  /// Makes every later call throw `reason`.
  func end(_ bit: UInt8, _ reason: StoreError) {
    shared.update { shared in
      if bit == Barrier.closed || shared.reason == nil { shared.reason = reason }
      raise(bit)
    }
  }

  /// Makes every later call throw `poisoned`.
  func poison(because reason: String, _ code: Int32?) {
    end(
      Barrier.poisoned,
      StoreError(.poisoned, "\(path) cannot be used any more: \(reason); open it again.", underlying: code))
  }

  /// Translates a code; one after which LMDB refuses everything poisons the environment.
  func failure(_ code: Int32, _ operation: String) -> StoreError {
    if code == MDB_PANIC { poison(because: "an earlier commit failed half-way", code) }
    return .lmdb(code, operation)
  }

  /// The error for a full table, with what LMDB knows of the readers.
  func readersFull(_ code: Int32) -> StoreError {
    StoreError(
      .readersFull,
      "No reader slot of \(path) is free; there are \(openSnapshotsText) in this process, which may have \(count): "
        + "end some, or open with a larger `readerLimit`.", underlying: code)
  }
}
