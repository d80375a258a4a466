/// Admits one thread of this process to the write transaction, in the order in which they asked.
///
/// LMDB's own lock, which also keeps out other processes, deadlocks when a thread takes it twice; this one throws. And
/// it lets a thread that writes in a loop pass all others, who then wait for seconds; this one is handed to the next.
final class WriterLock: Sendable {
  private struct State {
    var owner: ThreadID?
    var waiters: [Waiter] = []
  }

  /// A thread that waits for its turn.
  private final class Waiter: Sendable {
    let thread: ThreadID
    let hasTurn = Monitor(false)

    init(_ thread: ThreadID) { self.thread = thread }
  }

  private let state = Monitor(State())

  /// Takes the lock, waiting for its turn.
  ///
  /// - Parameters:
  ///   - path: The environment's path, for the message.
  ///   - limit: How long to wait; for ever if `nil`.
  /// - Throws: `nestedWrite` if this thread has it; `busy` when the time is over.
  func lock(for path: String, atMost limit: Duration? = nil) throws(StoreError) {
    let thread = currentThread()
    let waiter = try state.update { state throws(StoreError) -> Waiter? in
      if state.owner == thread {
        throw StoreError(
          .nestedWrite,
          "A write of \(path) was begun inside another one on the same thread; use the transaction at hand, or "
            + "nested().")
      }
      guard state.owner != nil else {
        state.owner = thread
        return nil
      }
      let waiter = Waiter(thread)
      state.waiters.append(waiter)
      return waiter
    }
    guard let waiter else { return }
    guard let limit else { return waiter.hasTurn.wait { $0 ? () : nil } }
    if waiter.hasTurn.wait(atMost: limit, { $0 ? () : nil }) != nil { return }
    let isOurs = state.update { state in
      state.waiters.removeAll { $0 === waiter }
      // Its turn may have come at this very moment.
      return state.owner == thread
    }
    if !isOurs {
      throw StoreError(.busy, "A write of \(path) did not end within \(limit); try again once it has.")
    }
  }

  /// Takes the lock if that needs no waiting.
  func tryLock() -> Bool {
    state.update { state in
      guard state.owner == nil else { return false }
      state.owner = currentThread()
      return true
    }
  }

  /// Whether this thread has the lock.
  var isHeldByThisThread: Bool { state.update { $0.owner == currentThread() } }

  /// How many threads wait for it.
  var waiting: Int { state.update { $0.waiters.count } }

  /// Gives the lock to the next thread.
  func unlock() {
    let next = state.update { state in
      let next = state.waiters.isEmpty ? nil : state.waiters.removeFirst()
      state.owner = next?.thread
      return next
    }
    next?.hasTurn.update { $0 = true }
  }
}
