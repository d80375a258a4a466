/// A thread that commits what tasks ask for, in their order, as many as are waiting at a time.
///
/// The queue is as long as there are tasks, since each waits for its answer. The thread is started by the first
/// request and ends with ``stop()``.
final class GroupWriter: Sendable {
  /// The most requests in one commit.
  static let groupLimit = 1024

  struct State {
    var requests: [WriteRequest] = []
    /// Whether the thread is committing what it has fetched.
    var isBusy = false
    var isRunning = false
    var isStopped = false
  }

  private let state = Monitor(State())

  /// Has the thread commit the request, after those before it.
  func append(_ request: WriteRequest) {
    let mustStart = state.update { state in
      state.requests.append(request)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { start() }
  }

  /// How many requests the thread has not fetched yet.
  var pending: Int { state.update { $0.requests.count } }

  /// Whether the thread is committing what it has fetched.
  var isBusy: Bool { state.update { $0.isBusy } }

  /// Whether nobody would be passed by a request that is not queued.
  var isIdle: Bool { state.update { $0.requests.isEmpty && !$0.isBusy } }

  /// Lets the thread end once it has committed what it was given. Does not wait: the caller may be the thread itself.
  func stop() {
    state.update { $0.isStopped = true }
  }

  private func start() {
    let loop = Loop(state: state)
    let code = DetachedThread.start { loop.run() }
    if code != 0 { refuse(code) }
  }

  /// Answers what has been asked meanwhile; the next request tries again.
  private func refuse(_ code: Int32) {
    let requests = state.update { state in
      defer { state = State() }
      return state.requests
    }
    for request in requests where request.take() {
      request.failure = StoreError(
        .busy,
        "The system has no room for the writer thread of \(request.environment.path); end some threads, or write "
          + "synchronously.", underlying: code)
      request.answer()
    }
  }

  private final class Loop: Sendable {
    private let state: Monitor<State>

    init(state: Monitor<State>) { self.state = state }

    func run() {
      var size = 1
      while let group = nextGroup(after: size) {
        size = group.count
        commit(group)
      }
    }

    /// Waits for requests, of which it holds the only reference afterwards.
    ///
    /// Tasks that were just answered tend to ask again at once. Whoever does not wait a little for them commits one
    /// alone and lets the others wait for its flush.
    private func nextGroup(after size: Int) -> [WriteRequest]? {
      if size > 1 {
        _ = state.wait(atMost: .microseconds(100)) { $0.requests.count >= size || $0.isStopped ? () : nil }
      }
      return state.wait { state in
        state.isBusy = !state.requests.isEmpty
        if state.requests.isEmpty { return state.isStopped ? .some(nil) : nil }
        let group = Array(state.requests.prefix(GroupWriter.groupLimit))
        state.requests.removeFirst(group.count)
        return .some(group)
      }
    }

    private func commit(_ group: [WriteRequest]) {
      let taken = group.filter { $0.take() }
      var rest = taken[...]
      while let first = rest.first {
        let count = first.environment.commit(rest)
        rest = rest.dropFirst(count)
      }
    }
  }
}
