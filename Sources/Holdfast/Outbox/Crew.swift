import LMDB

/// The tasks that make the attempts of a drain.
///
/// A task whose attempt is over goes on with the next claim, and before a task begins one, another is on its way to the
/// claim after it. So no claim waits for an attempt, as if each had a task of its own: with a sender that suspends, each
/// has; with one that has its answer at hand, a few tasks make them all.
final class Crew: Sendable {
  private struct Member {
    let task: Task<Void, Never>
    /// What it is sending.
    var entry: EntryID?
    /// Its attempt was cancelled, and its task with it, so that it takes no other.
    var isDismissed = false
  }

  private struct State {
    /// What has been claimed and not begun, the next at the end.
    var waiting: [Outbox.Claim] = []
    var finished: [DrainTurn.Finished] = []
    var members: [Member?] = []
    /// The places that are `nil`.
    var vacancies: [Int] = []
    /// Whether a task is on its way.
    var isOneComing = false
    var isCancelled = false
    /// What was cancelled before it was begun.
    var cancelled: Set<EntryID> = []
  }

  private let state = Monitor(State())
  private let wakeUp: WakeUp
  private let attempt: @Sendable (Outbox.Claim) async -> Outbox.Result

  /// - Parameters:
  ///   - wakeUp: Told when an attempt is over.
  ///   - attempt: Makes one.
  init(_ wakeUp: WakeUp, attempt: @escaping @Sendable (Outbox.Claim) async -> Outbox.Result) {
    self.wakeUp = wakeUp
    self.attempt = attempt
  }

  /// Has attempts made, in this order.
  func begin(_ claims: [Outbox.Claim]) {
    if claims.isEmpty { return }
    state.update { state in
      state.waiting.insert(contentsOf: claims.reversed(), at: 0)
      recruit(&state)
    }
  }

  /// What has come back since the last call.
  func takeFinished() -> [DrainTurn.Finished] {
    state.update { state in
      defer { state.finished = [] }
      return state.finished
    }
  }

  /// Cancels the attempt of an entry, if it is not over.
  func cancel(_ id: EntryID) {
    let task = state.update { state -> Task<Void, Never>? in
      guard let place = state.members.firstIndex(where: { $0?.entry == id }) else {
        if state.waiting.contains(where: { $0.entry.id == id }) { state.cancelled.insert(id) }
        return nil
      }
      state.members[place]?.isDismissed = true
      return state.members[place]?.task
    }
    task?.cancel()
  }

  /// Cancels all attempts, those that are yet to begin too.
  func cancelAll() {
    let tasks = state.update { state in
      state.isCancelled = true
      return state.members.compactMap { $0?.task }
    }
    for task in tasks { task.cancel() }
  }

  /// Waits until nobody is at work any more; nothing must be begun meanwhile.
  func disband() async {
    while let task = state.update({ $0.members.lazy.compactMap { $0?.task }.first }) { await task.value }
  }

  private func recruit(_ state: inout State) {
    if state.isOneComing { return }
    state.isOneComing = true
    let place = state.vacancies.popLast() ?? state.members.count
    let task = Task { await work(at: place) }
    // The first that it does is to wait for this lock, so that this calls nobody's handler.
    if state.isCancelled { task.cancel() }
    if place == state.members.count { state.members.append(nil) }
    state.members[place] = Member(task: task)
  }

  private func work(at place: Int) async {
    var finished: DrainTurn.Finished?
    while let claim = next(at: place, after: finished) {
      var result = await attempt(claim)
      if Task.isCancelled, case .sent(.transient) = result { result = .sent(.interrupted) }
      finished = DrainTurn.Finished(claim: claim, result: result)
    }
  }

  /// Notes what has come back, and takes what is next; `nil` if somebody else will, or there is nothing.
  ///
  /// What comes back while others are yet to begin is told with the last of them, since telling of each makes turns of
  /// one, with a flush each.
  private func next(at place: Int, after finished: DrainTurn.Finished?) -> Outbox.Claim? {
    let (claim, mustTell) = state.update { state -> (Outbox.Claim?, Bool) in
      if let finished { state.finished.append(finished) } else { state.isOneComing = false }
      let isDismissed = state.members[place]?.isDismissed ?? true
      let claim = isDismissed ? nil : state.waiting.popLast()
      if let claim {
        state.members[place]?.entry = claim.entry.id
        if !state.cancelled.isEmpty, state.cancelled.remove(claim.entry.id) != nil {
          state.members[place]?.isDismissed = true
          // No attempt has begun in it, so that this calls nobody's handler.
          state.members[place]?.task.cancel()
        }
      } else {
        state.members[place] = nil
        state.vacancies.append(place)
      }
      if !state.waiting.isEmpty { recruit(&state) }
      return (claim, state.waiting.isEmpty && !state.finished.isEmpty)
    }
    if mustTell { wakeUp.signal() }
    return claim
  }
}
