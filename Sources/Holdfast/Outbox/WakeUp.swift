import LMDB
import Synchronization

/// Wakes one waiting task. A signal that comes while nobody waits is kept; several are one.
final class WakeUp: Sendable {
  /// Whether there is a signal that nobody has taken; changed in here and by ``signal()``, which need not wait for its
  /// turn to add one to it.
  private let isSignalled = Atomic(false)
  private let waiter = Guarded<CheckedContinuation<Void, Never>?>(nil)

  func signal() {
    // Whoever takes the signal that is there sees all that was done before this one.
    if isSignalled.exchange(true, ordering: .acquiringAndReleasing) { return }
    let waiter = waiter.update { waiter in
      defer { waiter = nil }
      if waiter != nil { isSignalled.store(false, ordering: .releasing) }
      return waiter
    }
    waiter?.resume()
  }

  /// Suspends until there is a signal, and takes it.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isOver = waiter.update { waiter in
        let isOver = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
        if !isOver { waiter = continuation }
        return isOver
      }
      if isOver { continuation.resume() }
    }
  }
}
