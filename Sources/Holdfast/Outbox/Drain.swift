import LMDB

/// The loop behind ``Outbox/drain(with:hooks:options:)``.
///
/// It keeps nothing that the store does not say again: each turn settles what has come back, claims what may go out,
/// and learns when to look next, in one transaction.
final class Drain<Sender: OutboxSender>: Sendable {
  /// An attempt that has come back.
  private struct Finished: Sendable {
    let claim: Outbox.Claim
    let outcome: SendOutcome
    /// How often its hook has thrown.
    var hookFailures = 0
  }

  private struct Turn: Sendable {
    var claims: [Outbox.Claim] = []
    var events: [OutboxEvent] = []
    /// What could not be settled because its hook threw, to be tried again.
    var unsettled: [Finished] = []
    /// When the next waiting entry is due; `nil` if none waits.
    var nextDue: Int64?
  }

  private let outbox: Outbox
  private let sender: Sender
  private let hooks: OutboxHooks
  private let options: Outbox.DrainOptions
  private let epoch: UInt64
  private let start: Int64
  private let finished = Monitor<[Finished]>([])

  init(
    _ outbox: Outbox, _ sender: Sender, _ hooks: OutboxHooks, _ options: Outbox.DrainOptions, epoch: UInt64
  ) {
    self.outbox = outbox
    self.sender = sender
    self.hooks = hooks
    self.options = options
    self.epoch = epoch
    start = outbox.time.now()
  }

  func run() async throws -> Outbox.DrainReport {
    try await withThrowingDiscardingTaskGroup { group in
      var report = Outbox.DrainReport()
      var inFlight = 0
      var unsettled: [Finished] = []
      while true {
        let arrived = takeFinished()
        inFlight -= arrived.count
        let isCancelled = Task.isCancelled
        let room = isCancelled ? 0 : options.concurrency - inFlight - unsettled.count
        let turn = try await turn(unsettled + arrived, room: room)
        unsettled = turn.unsettled
        inFlight += turn.claims.count
        for event in turn.events {
          report.count(event)
          options.onEvent(event)
        }
        for claim in turn.claims {
          group.addTask { await self.attempt(claim) }
        }
        if !unsettled.isEmpty { continue }
        if inFlight == 0 && (isCancelled || isReached(turn.nextDue)) { return report }
        if isCancelled || inFlight >= options.concurrency || options.goal == .once && inFlight > 0 {
          // Only an attempt that comes back makes a difference now.
          await outbox.wakeUp.wait()
        } else {
          await rest(until: turn.nextDue)
        }
      }
    }
  }

  private func isReached(_ nextDue: Int64?) -> Bool {
    switch options.goal {
    case .once: nextDue.map { $0 > start } ?? true
    case .idle: nextDue == nil
    case .forever: false
    }
  }

  private func attempt(_ claim: Outbox.Claim) async {
    var outcome: SendOutcome
    do {
      outcome = try await sender.send(claim.entry)
    } catch {
      outcome = .transient(reason: "the sender threw: \(error)")
    }
    if Task.isCancelled, case .transient = outcome { outcome = .interrupted }
    finished.update { $0.append(Finished(claim: claim, outcome: outcome)) }
    outbox.wakeUp.signal()
  }

  private func takeFinished() -> [Finished] {
    finished.update { finished in
      defer { finished = [] }
      return finished
    }
  }

  /// Suspends until there is a signal, the next entry is due, or it is time to look at what other processes did.
  private func rest(until date: Int64?) async {
    let time = outbox.time
    let interval = max(10, options.pollInterval.milliseconds)
    let pause = Duration.milliseconds(date.map { min(interval, max(0, $0 - time.now())) } ?? interval)
    let timer = Task { [wakeUp = outbox.wakeUp] in
      do { try await time.sleep(pause) } catch { return }
      wakeUp.signal()
    }
    await outbox.wakeUp.wait()
    timer.cancel()
  }

  /// Settles and claims in one commit, so that a step costs one flush, not one for each entry.
  private func turn(_ finished: [Finished], room: Int) async throws -> Turn {
    // In a task of its own, since a cancelled drain must still write down what became of its attempts.
    try await Task {
      try await outbox.environment.write { transaction in
        var turn = Turn()
        for item in finished { try self.settle(item, &turn, in: &transaction) }
        turn.claims = try self.outbox.claim(
          limit: room, dueBy: self.options.goal == .once ? self.start : self.outbox.time.now(), epoch: self.epoch,
          &turn.events, in: &transaction)
        turn.nextDue = try self.outbox.nextDue(in: transaction.reader)
        return turn
      }
    }.value
  }

  private func settle(_ item: Finished, _ turn: inout Turn, in transaction: inout WriteTransaction) throws {
    do {
      // A hook that throws takes back its own changes, not those of the others.
      let event = try transaction.nested { nested in
        try outbox.settle(item.claim, item.outcome, options.schedule, hooks, in: &nested)
      }
      if let event { turn.events.append(event) }
    } catch {
      // The hook is not to blame for a full disk, and nothing else of this turn would be kept either.
      if transaction.isDoomed { throw error }
      var item = item
      item.hookFailures += 1
      if item.hookFailures < 3 {
        turn.unsettled.append(item)
      } else if let event = try outbox.hold(item.claim, "its hook failed: \(error)", in: &transaction) {
        turn.events.append(event)
      }
    }
  }
}
