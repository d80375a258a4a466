import LMDB

/// Wakes those who wait for a change of the state: after each commit of this process and each change of the session at
/// once, after one of another process at the next poll. Polls only while somebody waits.
final class StateSignal: Sendable {
  /// What a reader has seen: it waits until there is more.
  struct Seen {
    /// Of this signal, from before the read.
    var version: UInt64
    /// Of the snapshot that was read.
    var transactionID: Int
    /// Between which times none of what was read begins or ceases to be over.
    var times = StateTimes()
  }

  private struct Waiter {
    let seen: Seen
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var version: UInt64 = 0
    var waiters: [UInt64: Waiter] = [:]
    var cancelled: Set<UInt64> = []
    var lastID: UInt64 = 0
    var isPolling = false

    /// Takes out those who need not wait any longer.
    mutating func take(_ isDone: (Waiter) -> Bool) -> [Waiter] {
      let done = waiters.filter { isDone($0.value) }
      for id in done.keys { waiters[id] = nil }
      return Array(done.values)
    }
  }

  private let state: Monitor<State>
  private let environment: Environment
  private let observation: CommitObservation
  private let time: SystemTime
  private let pollInterval: Duration

  init(_ environment: Environment, time: SystemTime, pollInterval: Duration) {
    let state = Monitor(State())
    self.state = state
    self.environment = environment
    self.time = time
    self.pollInterval = min(max(pollInterval, .milliseconds(10)), .longestWait)
    // The environment holds this; so it must not hold the environment.
    observation = environment.observeCommits { _ in Self.notify(state) }
  }

  /// To be read before what one then waits to change.
  var version: UInt64 { state.update { $0.version } }

  /// Something may have changed.
  func notify() { Self.notify(state) }

  private static func notify(_ state: Monitor<State>) {
    let waiters = state.update { state in
      state.version += 1
      return state.take { _ in true }
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Suspends until there may be more than was seen, or the task is cancelled.
  func wait(beyond seen: Seen) async {
    let id = state.update { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isDone, mustPoll) = state.update { state -> (Bool, Bool) in
          if state.version != seen.version || state.cancelled.contains(id) { return (true, false) }
          state.waiters[id] = Waiter(seen: seen, continuation: continuation)
          defer { state.isPolling = true }
          return (false, !state.isPolling)
        }
        if isDone { continuation.resume() }
        if mustPoll { poll() }
      }
    } onCancel: {
      let waiter = state.update { state in
        state.cancelled.insert(id)
        return state.waiters.removeValue(forKey: id)
      }
      waiter?.continuation.resume()
    }
    state.update { state in _ = state.cancelled.remove(id) }
  }

  /// Looks for commits of other processes, and for what expires, until nobody waits.
  private func poll() {
    Task {
      while state.update({ state in
        state.isPolling = !state.waiters.isEmpty
        return state.isPolling
      }) {
        do {
          try await time.sleep(pollInterval)
          let newest = try environment.lastTransactionID
          let now = time.now()
          let done = state.update { state in
            state.take { $0.seen.transactionID < newest || !$0.seen.times.contains(now) }
          }
          for waiter in done { waiter.continuation.resume() }
        } catch {
          // The environment is closed, or cannot be used any more; who waits is told so by the next read.
          for waiter in state.update({ $0.take { _ in true } }) { waiter.continuation.resume() }
        }
      }
    }
  }
}
