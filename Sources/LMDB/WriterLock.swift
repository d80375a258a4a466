/// Admits one thread of this process to the write transaction.
///
/// LMDB's own lock, which also keeps out other processes, deadlocks when a thread takes it twice; this one throws.
final class WriterLock: Sendable {
  private let owner = Monitor<ThreadID?>(nil)

  /// Takes the lock, waiting for its turn.
  ///
  /// - Parameters:
  ///   - path: The environment's path, for the message.
  ///   - limit: How long to wait; for ever if `nil`.
  /// - Throws: `nestedWrite` if this thread has it; `busy` when the time is over.
  func lock(for path: String, atMost limit: Duration? = nil) throws(StoreError) {
    let thread = currentThread()
    func take(_ owner: inout ThreadID?) -> Bool? {
      if owner == thread { return true }
      if owner != nil { return nil }
      owner = thread
      return false
    }
    let isOurs =
      if let limit { owner.wait(atMost: limit, take) } else { owner.wait(take) }
    guard let isOurs else {
      throw StoreError(
        .busy, "A write of \(path) did not end within \(limit ?? .zero); try again once it has.")
    }
    if isOurs {
      throw StoreError(
        .nestedWrite,
        "A write of \(path) was begun inside another one on the same thread; use the transaction at hand, or nested().")
    }
  }

  /// Whether this thread has the lock.
  var isHeldByThisThread: Bool { owner.handOver { $0 == currentThread() } }

  /// Gives the lock to the next thread.
  func unlock() {
    owner.handOver { $0 = nil }
  }
}
