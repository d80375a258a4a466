#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A thread that runs blocking work for tasks, in order, so that they do not block the cooperative pool.
///
/// The thread is started by the first job and ends with ``stop()``.
final class WriterThread: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var isRunning = false
    var isStopped = false
  }

  private let state = Monitor(State())

  /// Has `job` run on the thread, after those before it.
  func run(_ job: @escaping @Sendable () -> Void) {
    let mustStart = state.update { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { start() }
  }

  /// Lets the thread end once it has run what it was given. Does not wait: the caller may be the thread itself.
  func stop() {
    state.update { $0.isStopped = true }
  }

  private func start() {
    let loop = unsafe Unmanaged.passRetained(Loop(state: state))
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context { unsafe Unmanaged<Loop>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, unsafe loop.toOpaque())
    precondition(code == 0, "The system has no room for a writer thread.")
    #if canImport(Darwin)
      if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
  }

  private final class Loop: Sendable {
    private let state: Monitor<State>

    init(state: Monitor<State>) { self.state = state }

    func run() {
      while true {
        let jobs: [@Sendable () -> Void] = state.wait { state in
          if state.jobs.isEmpty { return state.isStopped ? [] : nil }
          defer { state.jobs = [] }
          return state.jobs
        }
        if jobs.isEmpty { return }
        for job in jobs { job() }
      }
    }
  }
}
