import LMDB

extension Outbox {
  /// What came of a claimed attempt.
  enum Result: Sendable {
    case sent(SendOutcome)
    /// The server said that it did not have it, before it was sent.
    case sentAfterReconciling(SendOutcome)
    /// Not even the server knows what became of the attempt before.
    case undecided

    var outcome: SendOutcome? {
      switch self {
      case .sent(let outcome), .sentAfterReconciling(let outcome): outcome
      case .undecided: nil
      }
    }
  }

  /// Takes the result of a claimed attempt, and runs the hook that belongs to it.
  ///
  /// A result of an older claim changes nothing: the fence is epoch and generation.
  func settle(
    _ claim: Claim, _ result: Result, _ rules: DeliveryState.Rules, _ hooks: OutboxHooks, at clock: OutboxClock,
    in transaction: inout WriteTransaction
  ) throws {
    let (id, entry) = (claim.entry.id, claim.entry)
    guard var state = try claimedState(claim, in: transaction) else {
      let summary = result.outcome?.summary ?? "undecided"
      return try note(.late, id, reason: summary, at: clock, in: &transaction)
    }
    switch decide(result, &state, rules, entry, at: clock) {
    case .finish:
      try end(entry, state, as: .delivered, at: clock, in: &transaction)
      if case .delivered(let reply) = result.outcome { try hooks.commit(entry, reply, in: &transaction) }
    case .bury(let reason):
      try end(entry, state, as: .dead(reason: reason), at: clock, in: &transaction)
      try hooks.rollback(entry, reason, in: &transaction)
    case .cancel:
      try end(entry, state, as: .cancelled, at: clock, in: &transaction)
    case .retry(let date):
      try set(state, of: id, in: &transaction)
      try offer(id, state, lane: entry.lane, in: &transaction)
      let event = OutboxEvent.retrying(id, reason: state.lastError, at: clock.wall(of: date))
      try note(.retrying, id, attempt: state.attempts, reason: state.lastError, event, at: clock, in: &transaction)
    case .hold(let reason):
      try transaction.insert(runKey(claim.epoch, id), in: running)
      try set(state, of: id, in: &transaction)
      try note(
        .held, id, attempt: state.attempts, reason: reason, .held(id, reason: reason), at: clock, in: &transaction)
    }
    if let outcome = result.outcome {
      try moveGates(of: entry, after: outcome, at: clock, rules.schedule, in: &transaction)
    }
  }

  private func decide(
    _ result: Result, _ state: inout DeliveryState, _ rules: DeliveryState.Rules, _ entry: OutboxEntry,
    at clock: OutboxClock
  ) -> DeliveryState.Action {
    var rules = rules
    rules.maxAttempts = entry.maxAttempts
    var random = SystemRandomNumberGenerator()
    switch result {
    case .sent(let outcome):
      return state.settle(outcome, at: clock.time, rules, using: &random)
    case .sentAfterReconciling(let outcome):
      state.ambiguousSince = 0
      return state.settle(outcome, at: clock.time, rules, using: &random)
    case .undecided:
      if state.isCancelRequested { return .cancel }
      let reason = "the server does not know whether it has it"
      state.hold(reason, .ambiguous)
      return .hold(reason: reason)
    }
  }

  /// Holds a claimed entry whose outcome cannot be written.
  func hold(
    _ claim: Claim, unsettled reason: String, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard var state = try claimedState(claim, in: transaction) else { return }
    state.hold(inDoubt: reason, at: clock.time)
    try transaction.insert(runKey(claim.epoch, claim.entry.id), in: running)
    try set(state, of: claim.entry.id, in: &transaction)
    try note(
      .held, claim.entry.id, attempt: state.attempts, reason: reason, .held(claim.entry.id, reason: reason), at: clock,
      in: &transaction)
  }

  /// The state of what is still in flight under a claim.
  func claimedState(
    _ claim: Claim, in transaction: borrowing WriteTransaction
  ) throws(StoreError) -> DeliveryState? {
    guard let state = try readableState(of: claim.entry.id, in: transaction), state.phase == .inFlight,
      state.epoch == claim.epoch, state.generation == claim.generation
    else { return nil }
    return state
  }
}

extension SendOutcome {
  /// The outcome in a few words.
  fileprivate var summary: String {
    switch self {
    case .delivered: "delivered"
    case .transient(let reason, _), .postponed(let reason, _, _), .notSent(let reason, _), .ambiguous(let reason),
      .unsendable(let reason), .permanent(let reason):
      reason
    case .interrupted: "interrupted"
    }
  }
}
