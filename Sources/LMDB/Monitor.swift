#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Duration {
  /// The longest wait that is reckoned with; keeps sums of times far from overflow.
  package static let longestWait = Duration.seconds(10 * 365 * 86_400)
}

/// State behind a mutex with one condition to wait on.
///
/// The standard library's `Mutex` has no way to wait for a change, and on Linux the thread sanitizer does not know it;
/// this is that, and nothing more.
@safe
@usableFromInline
package final class Monitor<State>: @unchecked Sendable {
  // Sendable: `state` is touched only between lock and unlock, which is also why its accesses need no other check.
  @usableFromInline
  @exclusivity(unchecked)
  var state: State
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init(_ state: sending State) {
    unsafe self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      unsafe pthread_cond_init(condition, nil)
    #else
      // Timed waits must not follow the wall clock when somebody sets it.
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Runs `body` alone and wakes whoever waits for a change.
  ///
  /// Compiled into its caller: called as it stands, the generic function costs more than the mutex.
  @inlinable
  package func update<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try unsafe body(&state)
  }

  @usableFromInline
  func lock() { unsafe pthread_mutex_lock(mutex) }

  @usableFromInline
  func unlock() {
    unsafe pthread_cond_broadcast(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Blocks the thread until `attempt` returns a value; it is asked again after each ``update(_:)``.
  package func wait<R>(_ attempt: (inout State) -> R?) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = unsafe attempt(&state) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// Blocks the thread until `attempt` returns a value, or for `limit`.
  ///
  /// - Returns: The value, or `nil` when the time was over first.
  package func wait<R>(atMost limit: Duration, _ attempt: (inout State) -> R?) -> R? {
    let end = ContinuousClock.now + min(limit, .longestWait)
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = unsafe attempt(&state) { return result }
      let rest = end - ContinuousClock.now
      if rest <= .zero { return nil }
      waitForChange(atMost: rest)
    }
  }

  private func waitForChange(atMost rest: Duration) {
    let (seconds, attoseconds) = rest.components
    #if canImport(Darwin)
      var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
      unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
      time.tv_sec += Int(clamping: seconds) + nanoseconds / 1_000_000_000
      time.tv_nsec = nanoseconds % 1_000_000_000
      unsafe pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }
}
