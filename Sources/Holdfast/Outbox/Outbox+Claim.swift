import LMDB
import Synchronization

extension Outbox {
  /// An attempt that is on disk and may be made.
  ///
  /// A class since it goes through many hands, and an entry has much to copy.
  final class Claim: Sendable {
    let entry: OutboxEntry
    let epoch: UInt64
    let generation: UInt32
    /// Whether the server must be asked first, since nobody knows what became of an earlier attempt.
    let mustReconcile: Bool
    /// Whether the process ended during its last attempt. It is sent alone then, so that no other is suspected with it.
    let isSuspect: Bool

    /// Whether it has come back, as the drain that made it notes.
    let isOver = Atomic(false)

    init(_ entry: consuming OutboxEntry, _ state: DeliveryState, mustReconcile: Bool) {
      self.entry = entry
      epoch = state.epoch
      generation = state.generation
      self.mustReconcile = mustReconcile
      isSuspect = state.crashes > 0
    }
  }

  /// What a drain may begin now.
  struct Allowance: Sendable {
    /// How many attempts.
    var room: Int
    /// What is due later waits.
    var dueBy: Int64
    var network: NetworkGate
    var inFlight: [Claim]
    var hostLimit: Int?
    var queueLimits: [String: Int]
  }

  /// What a drain remembers between its claims.
  struct ClaimMemory: Sendable {
    var scheduler = Scheduler()
    /// The routes behind the numbers, which never change.
    var routes: [UInt64: Route] = [:]
  }

  /// Claims entries that are due, at most one a lane.
  ///
  /// The claims are durable with the transaction, before anything is sent; the caller writes down what is in flight then,
  /// with ``setInFlight(_:epoch:in:)``. An entry that cannot be read is held, and
  /// a row that is out of place is removed. Costs a few steps for each route and priority that has something waiting,
  /// and for each claim, whatever else waits.
  ///
  /// - Returns: The claims, and when the next of those that wait for a time is due.
  func claim(
    _ allowance: Allowance, _ memory: inout ClaimMemory, epoch: UInt64, _ rules: DeliveryState.Rules,
    at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) -> (claims: [Claim], nextDue: Int64?) {
    var allowance = allowance
    var claims: [Claim] = []
    while true {
      let found = try look(allowance, &memory, in: transaction.reader)
      for key in found.damaged { try transaction.remove(key, in: due) }
      var misses = found.damaged.count
      let picked = memory.scheduler.pick(allowance.room, from: found.lines, at: clock.time)
      if picked.count > 2 {
        for database in [entries, lanes] { transaction.openCursor(in: database) }
      }
      var gone: [DueKey] = []
      for key in picked {
        guard allowance.room > 0 else { break }
        switch try take(
          key, alone: allowance.inFlight.isEmpty, epoch: epoch, rules, at: clock, in: &transaction)
        {
        case .claimed(let claim):
          gone.append(key)
          claims.append(claim)
          allowance.inFlight.append(claim)
          allowance.room = claim.isSuspect ? 0 : allowance.room - 1
        case .removed:
          gone.append(key)
          misses += 1
        case .mustWait:
          allowance.room = 0
        }
      }
      for place in RemovalOrder.scattered(gone.count) { try transaction.remove(gone[place].bytes, in: due) }
      // Each miss has removed a row, so that this ends.
      if misses == 0 || allowance.room == 0 { return (claims, found.nextDue) }
    }
  }

  private enum Taken {
    case claimed(Claim)
    /// The row was none, or has no entry that could be sent.
    case removed
    /// Its turn is when the others are back.
    case mustWait
  }

  /// Claims the entry of a row, which the caller removes unless the entry must wait.
  private func take(
    _ key: DueKey, alone: Bool, epoch: UInt64, _ rules: DeliveryState.Rules, at clock: OutboxClock,
    in transaction: inout WriteTransaction
  ) throws(StoreError) -> Taken {
    let id = key.id
    let found = try soundState(of: id, at: clock, in: &transaction)
    if !alone, let found, found.crashes > 0 { return .mustWait }
    guard var state = found, state.phase == .waiting else { return .removed }
    let entry: OutboxEntry
    do throws(StoreError) {
      entry = try existingEntry(id, in: transaction)
    } catch  where error.code == .corruptRecord {
      try setAside(id, &state, error.message, .unfit, epoch: epoch, at: clock, in: &transaction)
      return .removed
    }
    guard DueKey(state, id) == key, try isHead(id, ofLane: entry.lane, in: transaction) else {
      // The row was not its own, which it gets if it is its turn.
      try offer(id, state, lane: entry.lane, in: &transaction)
      return .removed
    }
    state.claim(epoch: epoch)
    try set(state, of: id, in: &transaction)
    try note(.claimed, id, attempt: state.attempts, at: clock, in: &transaction)
    let mustReconcile = state.mustReconcile(at: clock.time, rules)
    return .claimed(Claim(consume entry, state, mustReconcile: mustReconcile))
  }

  /// The entry of a state.
  private func existingEntry(
    _ id: EntryID, in transaction: borrowing WriteTransaction
  ) throws(StoreError) -> OutboxEntry {
    if let entry = try entry(id, in: transaction) { return entry }
    throw StoreError(.corruptRecord, "The outbox entry \(id) is gone, but its state is there.")
  }

  /// Holds an entry that is not in flight.
  func setAside(
    _ id: EntryID, _ state: inout DeliveryState, _ reason: String, _ cause: DeliveryState.HoldCause, epoch: UInt64,
    at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    try transaction.remove(DueKey(state, id).bytes, in: due)
    state.hold(reason, cause)
    state.epoch = epoch
    try transaction.insert(runKey(epoch, id), in: running)
    try set(state, of: id, in: &transaction)
    try note(
      .held, id, attempt: state.attempts, reason: reason, .held(id, reason: reason), at: clock, in: &transaction)
  }

  // MARK: Looking

  private struct Found {
    var lines: [Scheduler.Line] = []
    var damaged: [[UInt8]] = []
    var nextDue: Int64?

    mutating func wait(until time: Int64) { nextDue = min(nextDue ?? .max, time) }
  }

  /// What is due on routes that are open. Steps over each route that is closed, and over what one has no room for.
  private func look(
    _ allowance: Allowance, _ memory: inout ClaimMemory, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Found {
    var found = Found()
    memory.scheduler.allowances = allowance.queueAllowances
    if allowance.room <= 0 { return found }
    var cursor = try transaction.cursor(in: due)
    var isOnKey = try cursor.next()
    while isOnKey {
      guard let first = DueKey(bytes: cursor.key) else {
        found.damaged.append([UInt8](copying: cursor.key))
        isOnKey = try cursor.next()
        continue
      }
      let route = try route(of: first, &memory, in: transaction)
      let isOpen = try isOpen(route, allowance, &memory.scheduler, &found, in: transaction)
      var line = Scheduler.Line(route: route, number: first.route, due: [])
      var key = first
      while isOpen, isOnKey, key.route == first.route {
        isOnKey = try collect(&line, allowance, &found, startingAt: &key, with: &cursor)
      }
      if !line.due.isEmpty { found.lines.append(line) }
      if !isOpen {
        guard first.route < .max else { break }
        isOnKey = try cursor.seek(to: DueKey(route: first.route + 1, priority: 0).bytes)
      }
    }
    return found
  }

  /// Collects what is due of one route and priority, and moves to the next that has anything.
  ///
  /// - Returns: Whether the cursor stands on a key.
  @_lifetime(cursor: copy cursor)
  private func collect(
    _ line: inout Scheduler.Line, _ allowance: Allowance, _ found: inout Found, startingAt key: inout DueKey,
    with cursor: inout Cursor
  ) throws(StoreError) -> Bool {
    let (route, priority) = (key.route, key.priority)
    let opening = allowance.network.opening(for: DeliveryPriority(rawValue: priority) ?? .normal)
    if opening > allowance.dueBy {
      found.wait(until: opening)
    } else {
      var count = 0
      while key.time <= allowance.dueBy, count < allowance.room {
        line.due.append(key)
        count += 1
        guard try cursor.next() else { return false }
        guard let next = DueKey(bytes: cursor.key) else { return true }
        key = next
        if key.route != route || key.priority != priority { return true }
      }
      if key.time > allowance.dueBy { found.wait(until: key.time) }
    }
    guard priority < .max || route < .max else { return false }
    let next = priority < .max ? DueKey(route: route, priority: priority + 1) : DueKey(route: route + 1, priority: 0)
    guard try cursor.seek(to: next.bytes) else { return false }
    if let reached = DueKey(bytes: cursor.key) { key = reached } else { key.route = ~route }
    return true
  }

  private func route(
    of key: DueKey, _ memory: inout ClaimMemory, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Route {
    if let route = memory.routes[key.route] { return route }
    let route = try readableEntry(key.id, in: transaction)?.route
    if let route, route.number == key.route {
      memory.routes[key.route] = route
      return route
    }
    // Nobody knows; it is found out when the entry's turn comes.
    return Route(queue: "", host: nil, credentials: nil)
  }

  /// Whether anything may go a route's way now; if not, notes when that may change.
  private func isOpen(
    _ route: Route, _ allowance: Allowance, _ scheduler: inout Scheduler, _ found: inout Found,
    in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    if try isPaused(route, in: transaction) { return false }
    var opening: Int64 = 0
    if let gate = try gate(.host, route.host, in: transaction) {
      opening = gate.until
      scheduler.allowances[.host(route.host ?? "")] = allowance.rest(of: 1) { $0.entry.host == route.host }
    } else if let limit = allowance.hostLimit {
      scheduler.allowances[.host(route.host ?? "")] = allowance.rest(of: limit) { $0.entry.host == route.host }
    }
    if let gate = try gate(.credentials, route.credentials, in: transaction) {
      opening = max(opening, gate.until)
      scheduler.allowances[.credentials(route.credentials ?? "")] = allowance.rest(of: 1) {
        $0.entry.credentials == route.credentials
      }
    }
    if opening > allowance.dueBy { found.wait(until: opening) }
    return opening <= allowance.dueBy
  }
}

extension Outbox.Allowance {
  /// How many more may begin where `limit` may be in flight.
  fileprivate func rest(of limit: Int, where isMeant: (Outbox.Claim) -> Bool) -> Int {
    max(0, limit - inFlight.count(where: isMeant))
  }

  fileprivate var queueAllowances: [Scheduler.Resource: Int] {
    var allowances: [Scheduler.Resource: Int] = [:]
    for (queue, limit) in queueLimits { allowances[.queue(queue)] = rest(of: limit) { $0.entry.queue == queue } }
    return allowances
  }
}
