import LMDB

/// Wakes one waiting task. A signal that comes while nobody waits is kept; several are one.
final class WakeUp: Sendable {
  private struct State {
    var isSignalled = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Guarded(State())

  func signal() {
    let waiter = state.update { state in
      defer { state.waiter = nil }
      if state.waiter == nil { state.isSignalled = true }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Suspends until there is a signal, and takes it.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isSignalled = state.update { state in
        if !state.isSignalled { state.waiter = continuation }
        defer { state.isSignalled = false }
        return state.isSignalled
      }
      if isSignalled { continuation.resume() }
    }
  }
}
