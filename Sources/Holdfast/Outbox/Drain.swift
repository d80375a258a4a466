import LMDB
import Synchronization

/// The loop behind ``Outbox/drain(with:hooks:options:)``.
///
/// It keeps nothing that the store does not say again, but for what it thinks of the network: each turn settles what has
/// come back, claims what may go out, and learns when to look next, in one transaction.
final class Drain<Sender: OutboxSender>: Sendable {
  private let outbox: Outbox
  private let sender: Sender
  private let hooks: OutboxHooks
  private let options: Outbox.DrainOptions
  private let events: Monitor<[OutboxEvent]>
  private let crew: Crew
  private let statuses = Monitor<[NetworkStatus]>([])
  /// Whether the network monitor has said how things are, or will never.
  private let hasListened = Monitor(false)

  init(
    _ outbox: Outbox, _ sender: Sender, _ hooks: OutboxHooks, _ options: Outbox.DrainOptions,
    events: Monitor<[OutboxEvent]>
  ) {
    self.outbox = outbox
    self.sender = sender
    self.hooks = hooks
    self.options = options
    self.events = events
    crew = Crew(outbox.wakeUp) { claim in await Self.attempt(claim, sender) }
  }

  /// Has the drain settle what is in flight, and end.
  func cancel() {
    crew.cancelAll()
    outbox.wakeUp.signal()
  }

  func run() async throws -> Outbox.DrainReport {
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await self.listen() }
      defer { group.cancelAll() }
      do {
        let report = try await runTurns()
        await crew.disband()
        return report
      } catch {
        crew.cancelAll()
        await crew.disband()
        throw error
      }
    }
  }

  private func runTurns() async throws -> Outbox.DrainReport {
    var report = Outbox.DrainReport()
    var flights: [Outbox.Claim] = []
    var turn = DrainTurn(outbox, hooks, options)
    // Otherwise the first turn would try all lanes in vain while there is no network.
    while !Task.isCancelled, !hasListened.update({ $0 }) { await outbox.wakeUp.wait() }
    while true {
      turn.arrived = crew.takeFinished()
      for item in turn.arrived { item.claim.isOver.store(true, ordering: .relaxed) }
      if !turn.arrived.isEmpty { flights.removeAll { $0.isOver.load(ordering: .relaxed) } }
      turn.statuses = statuses.takeAll()
      turn.inFlight = flights
      turn.isCancelled = Task.isCancelled
      turn = try await commit(turn)
      for event in events.takeAll() {
        report.count(event)
        options.onEvent(event)
      }
      flights += turn.claims
      crew.begin(turn.claims)
      for id in turn.cancelRequests { crew.cancel(id) }
      if !turn.unsettled.isEmpty { continue }
      if flights.isEmpty && (turn.isCancelled || turn.isGoalReached) { return report }
      await rest(after: turn, isBusy: turn.isCancelled)
    }
  }

  private static func attempt(_ claim: Outbox.Claim, _ sender: Sender) async -> Outbox.Result {
    do {
      if !claim.mustReconcile { return .sent(try await sender.send(claim.entry)) }
      switch try await sender.reconcile(claim.entry) {
      case .delivered(let reply): return .sent(.delivered(reply: reply))
      case .notDelivered: return .sentAfterReconciling(try await sender.send(claim.entry))
      case .unknown: return .undecided
      case .failed(let outcome): return .sent(outcome)
      }
    } catch {
      return .sent(.transient(reason: "the sender threw: \(error)"))
    }
  }

  private func listen() async {
    for await status in options.network.statuses() {
      statuses.update { $0.append(status) }
      hasListened.update { $0 = true }
      outbox.wakeUp.signal()
    }
    hasListened.update { $0 = true }
    outbox.wakeUp.signal()
  }

  private func commit(_ turn: DrainTurn) async throws -> DrainTurn {
    // In a task of its own, since a cancelled drain must still write down what became of its attempts.
    try await Task {
      do {
        return try await write(turn)
      } catch let failure as DrainTurn.Failure {
        var turn = turn
        turn.failure = failure
        return try await write(turn)
      }
    }.value
  }

  private func write(_ turn: DrainTurn) async throws -> DrainTurn {
    try await outbox.environment.write { transaction in
      var turn = turn
      try turn.run(in: &transaction)
      return turn
    }
  }

  /// Suspends until there is a signal, the time of the next step, or a commit of another process.
  ///
  /// - Parameters:
  ///   - turn: The turn that found nothing more to do.
  ///   - isBusy: Whether only an attempt that comes back, or a time, makes a difference now.
  private func rest(after turn: DrainTurn, isBusy: Bool) async {
    let time = outbox.time
    var left = turn.nextStep.map { max(0, $0 - turn.time) }
    let interval = isBusy ? nil : options.pollInterval.map { max(10, $0.milliseconds) }
    if left == nil && interval == nil { return await outbox.wakeUp.wait() }
    let timer = Task { [wakeUp = outbox.wakeUp, environment = outbox.environment] in
      while true {
        let pause = min(left ?? .max, interval ?? .max)
        do { try await time.sleep(.milliseconds(pause)) } catch { return }
        left = left.map { $0 - pause }
        let newest = (try? environment.lastTransactionID) ?? .max
        if left.map({ $0 <= 0 }) ?? false || interval != nil && newest > turn.seen { return wakeUp.signal() }
      }
    }
    await outbox.wakeUp.wait()
    timer.cancel()
  }
}

extension Monitor {
  /// Everything in it, which is empty then.
  fileprivate func takeAll<Element>() -> [Element] where State == [Element] {
    update { all in
      defer { all = [] }
      return all
    }
  }
}
