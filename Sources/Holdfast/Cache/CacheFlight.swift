import LMDB

/// The loads of which the running task is a part.
enum CacheLoads {
  @TaskLocal static var current: [any AnyObject & Sendable] = []
}

/// One load that several tasks wait for.
///
/// A task that is cancelled stops waiting; the load goes on unless nobody waits any more.
final class CacheFlight<Value: Sendable>: Sendable {
  private struct State {
    var waiters: [Int: CheckedContinuation<Value, any Error>?] = [:]
    var lastID = 0
    var result: Result<Value, any Error>?
    var task: Task<Void, Never>?
    /// Whether nobody waits any more, so that its task is cancelled.
    var isAbandoned = false
    /// Whether its key has been set or removed since it began.
    var isInvalid = false
  }

  private let state = Monitor(State())
  /// Whether it is for nobody in particular, and goes on without anybody who waits.
  private let isRefresh: Bool

  init(isRefresh: Bool) { self.isRefresh = isRefresh }

  /// A place among those who wait; `nil` if it is too late.
  func join() -> Int? {
    state.update { state in
      if state.isAbandoned { return nil }
      state.lastID += 1
      state.waiters[state.lastID] = .some(nil)
      return state.lastID
    }
  }

  /// How many wait.
  var waiterCount: Int { state.update { $0.waiters.count } }

  /// Lets `task` do the work.
  func start(_ task: Task<Void, Never>) {
    let isAbandoned = state.update { state in
      state.task = task
      return state.isAbandoned
    }
    if isAbandoned { task.cancel() }
  }

  /// Its result must not be stored any more.
  func invalidate() { state.update { $0.isInvalid = true } }

  /// Whether its result may be stored.
  var isValid: Bool { state.update { !$0.isInvalid } }

  /// Suspends until the load is done.
  func wait(_ id: Int) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.update { state -> Result<Value, any Error>? in
          if let result = state.result { return result }
          // Cancelled before it came here.
          guard state.waiters[id] != nil else { return .failure(CancellationError()) }
          state.waiters[id] = .some(continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      leave(id)
    }
  }

  /// Gives a place back.
  func leave(_ id: Int) {
    let (continuation, task) = state.update { state -> (CheckedContinuation<Value, any Error>?, Task<Void, Never>?) in
      guard state.result == nil, let place = state.waiters.removeValue(forKey: id) else { return (nil, nil) }
      if state.waiters.isEmpty && !isRefresh { state.isAbandoned = true }
      return (place, state.isAbandoned ? state.task : nil)
    }
    continuation?.resume(throwing: CancellationError())
    task?.cancel()
  }

  /// Gives everybody the result.
  func finish(_ result: Result<Value, any Error>) {
    let waiters = state.update { state in
      state.result = result
      defer { state.waiters = [:] }
      return state.waiters.values.compactMap { $0 }
    }
    for waiter in waiters { waiter.resume(with: result) }
  }
}
