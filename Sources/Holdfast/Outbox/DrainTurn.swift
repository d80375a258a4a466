import LMDB

/// One step of a drain: settles what has come back, gives up what is too old, and claims what may go out, in one commit,
/// so that a step costs one flush, not one for each entry.
///
/// A value that goes from turn to turn. A write may run its closure more than once, each time on a copy.
struct DrainTurn: Sendable {
  /// An attempt that has come back.
  struct Finished: Sendable {
    let claim: Outbox.Claim
    let result: Outbox.Result
    /// How often it could not be settled.
    var failures = 0
  }

  /// What could not be settled with the others, for which the whole turn was taken back.
  struct Failure: Error {
    /// Its place among what was to be settled.
    let place: Int
    let error: any Error
  }

  private static let failureLimit = 3

  private let outbox: Outbox
  private let hooks: OutboxHooks
  private let options: Outbox.DrainOptions
  /// That of this drain; 0 before its first turn.
  private var epoch: UInt64 = 0
  /// Whether the file knows of it: not before there is something to drain.
  private var isEpochStored = false
  private var network: NetworkGate
  private var memory = Outbox.ClaimMemory()
  /// When the drain began.
  private var start: Int64?
  /// How often somebody had asked for the end of an attempt.
  private var cancellations: UInt64?
  /// Whether this drain has looked for rows that are lost.
  private var hasLookedForLostRows = false

  // What goes in.
  var arrived: [Finished] = []
  var statuses: [NetworkStatus] = []
  var inFlight: [Outbox.Claim] = []
  var isCancelled = false
  /// Why the turn is run anew.
  var failure: Failure?

  // What comes out.
  private(set) var claims: [Outbox.Claim] = []
  /// What could not be settled because its hook threw or what it leaves cannot be stored, to be tried again.
  private(set) var unsettled: [Finished] = []
  /// What is in flight and was taken back by the app.
  private(set) var cancelRequests: [EntryID] = []
  /// When the next entry that waits for a time is due; `nil` if none waits.
  private var nextDue: Int64?
  private var nextExpiry: Int64?
  /// The outbox's time.
  private(set) var time: Int64 = 0
  /// The newest commit that this turn has seen, its own among them.
  private(set) var seen = 0

  init(_ outbox: Outbox, _ hooks: OutboxHooks, _ options: Outbox.DrainOptions) {
    self.outbox = outbox
    self.hooks = hooks
    self.options = options
    network = NetworkGate(limit: options.concurrency)
  }

  /// When there is something to do without a signal.
  var nextStep: Int64? { [nextDue, nextExpiry].compactMap { $0 }.min() }

  var isGoalReached: Bool {
    switch options.goal {
    case .once: nextDue.map { $0 > start ?? time } ?? true
    case .idle: nextDue == nil
    case .forever: false
    }
  }

  mutating func run(in transaction: inout WriteTransaction) throws {
    transaction.mayUseReserve = true
    var random = SystemRandomNumberGenerator()
    let hasRecovered = try epoch == 0 && begin(in: &transaction)
    let clock = try outbox.clock(in: transaction.reader)
    time = clock.time
    if start == nil { start = time }
    for status in statuses {
      network.heard(isReachable: status.isReachable, at: time, NetworkGate.Spread(), using: &random)
    }
    let toSettle = unsettled + arrived
    unsettled = []
    for item in toSettle {
      if let outcome = item.result.outcome, item.failures == 0 {
        network.heard(outcome, at: time, options.schedule, using: &random)
      }
    }
    try settle(toSettle, at: clock, in: &transaction)
    let expired = try outbox.expire(hooks, inFlight: inFlight.count, epoch: epoch, at: clock, in: &transaction)
    nextExpiry = expired.next
    cancelRequests = []
    let cancellations = try outbox.cancellations(in: transaction.reader)
    // Otherwise each turn would read the state of each attempt in flight.
    for claim in inFlight where cancellations == nil || cancellations != self.cancellations {
      let state = try outbox.claimedState(claim, in: transaction)
      if state?.isCancelRequested ?? false { cancelRequests.append(claim.entry.id) }
    }
    self.cancellations = cancellations
    (claims, nextDue) = try outbox.claim(
      allowance, &memory, epoch: epoch, rules, at: clock, in: &transaction)
    let hasChanged = !toSettle.isEmpty || expired.count > 0 || !claims.isEmpty
    if hasChanged {
      if !isEpochStored { try outbox.store(epoch: epoch, in: &transaction) }
      isEpochStored = true
      let claimed = inFlight + unsettled.map(\.claim) + claims
      try outbox.setInFlight(claimed.map(\.entry.id), epoch: epoch, in: &transaction)
      try outbox.set(clock, in: &transaction)
      try outbox.trimJournal(options.journal, afterChanging: toSettle.count + claims.count, in: &transaction)
    }
    try lookForLostRows(in: &transaction)
    seen = hasChanged || hasRecovered ? transaction.id : transaction.id - 1
  }

  /// The first turn recovers what an earlier drain has left. Where nothing is to be drained it writes nothing, so that a
  /// drain which finds nothing costs no flush.
  ///
  /// - Returns: Whether it has recovered.
  private mutating func begin(in transaction: inout WriteTransaction) throws(StoreError) -> Bool {
    isEpochStored = try !outbox.isEmpty(in: transaction.reader)
    epoch = try isEpochStored ? outbox.recover(in: &transaction) : outbox.nextEpoch(in: transaction.reader)
    return isEpochStored
  }

  /// Once, when there is nothing else to do: what nothing leads to would wait for ever, and nobody would know.
  private mutating func lookForLostRows(in transaction: inout WriteTransaction) throws(StoreError) {
    if hasLookedForLostRows || isCancelled || !inFlight.isEmpty || !unsettled.isEmpty || !claims.isEmpty { return }
    hasLookedForLostRows = true
    guard let reason = try outbox.lostRows(in: transaction.reader) else { return }
    transaction.afterCommit { [outbox] in Outbox.tell(.rowsLost(reason: reason), outbox.board, outbox.observer) }
  }

  private var rules: DeliveryState.Rules {
    DeliveryState.Rules(schedule: options.schedule, idempotencyWindow: options.idempotencyWindow)
  }

  private var allowance: Outbox.Allowance {
    let busy = inFlight.count + unsettled.count
    let isAlone = inFlight.contains(where: \.isSuspect)
    return Outbox.Allowance(
      room: isCancelled || isAlone ? 0 : min(options.concurrency, network.window) - busy,
      dueBy: options.goal == .once ? start ?? time : time, network: network, inFlight: inFlight,
      hostLimit: options.hostConcurrency, queueLimits: options.queueConcurrency)
  }

  /// Settles all of them together. If one cannot be, the turn is taken back, and run anew with each settled on its own: a
  /// nested transaction for each, or for all, would cost every turn what only few need.
  private mutating func settle(
    _ items: [Finished], at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws {
    let failure = failure
    self.failure = nil
    if items.count > 1, failure == nil {
      // In flight together is what is of different lanes, whose order nobody is promised.
      for place in RemovalOrder.scattered(items.count) {
        do {
          try settle(items[place], at: clock, in: &transaction)
        } catch {
          if transaction.isDoomed { throw OutboxHooks.cause(of: error) }
          throw Failure(place: place, error: error)
        }
      }
      return
    }
    for (place, item) in items.enumerated() {
      do {
        if let failure, failure.place == place { throw failure.error }
        // A hook that throws takes back its own changes, not those of the others.
        try transaction.nested { nested in try settle(item, at: clock, in: &nested) }
      } catch {
        try handle(error, of: item, at: clock, in: &transaction)
      }
    }
  }

  private func settle(_ item: Finished, at clock: OutboxClock, in transaction: inout WriteTransaction) throws {
    try outbox.settle(item.claim, item.result, rules, hooks, at: clock, in: &transaction)
  }

  /// What becomes of an entry that could not be settled.
  private mutating func handle(
    _ error: any Error, of item: Finished, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws {
    // The entry is not to blame for a full disk, and nothing else of this turn would be kept either.
    guard !transaction.isDoomed else { throw OutboxHooks.cause(of: error) }
    var item = item
    item.failures += 1
    if item.failures < Self.failureLimit {
      unsettled.append(item)
    } else {
      try outbox.hold(item.claim, unsettled: OutboxHooks.reason(for: error), at: clock, in: &transaction)
    }
  }
}
