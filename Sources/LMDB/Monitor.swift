#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// State behind a mutex with one condition to wait on.
///
/// The standard library's `Mutex` has no way to wait for a change; this is that, and nothing more. It is also seen by
/// the thread sanitizer, which on Linux does not see into `Mutex` and reports races where there are none.
@safe
package final class Monitor<State>: @unchecked Sendable {
  // Sendable: `state` is touched only between lock and unlock.
  private var state: State
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init(_ state: sending State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Runs `body` alone and wakes whoever waits for a change.
  package func update<R>(_ body: (inout State) throws -> R) rethrows -> R {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// Blocks the thread until `attempt` returns a value; it is asked again after each ``update(_:)``.
  package func wait<R>(_ attempt: (inout State) -> R?) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = attempt(&state) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }
}
