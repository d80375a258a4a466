import LMDB

/// The changes of state, each a function of one write transaction.
extension Outbox {
  /// An attempt that is on disk and may be made.
  struct Claim: Sendable {
    let entry: OutboxEntry
    let epoch: UInt64
    let generation: UInt32
  }

  /// Starts a new epoch: what earlier drains left in flight or held goes back to waiting.
  ///
  /// Only whoever holds the drain's lock may call it.
  func recover(in transaction: inout WriteTransaction) throws(StoreError) -> UInt64 {
    let now = time.now()
    for key in try keys(of: .all, in: running, limit: .max, transaction.reader) {
      try transaction.remove(key, in: running)
      guard let id = EntryID(indexKey: key) else { continue }
      guard var state = try soundState(of: id, in: &transaction), state.phase != .waiting else { continue }
      state.recover(at: now)
      try journal.append(
        .requeued, id, attempt: state.attempts, reason: state.lastError, at: now, in: &transaction)
      try set(state, of: id, in: &transaction)
      try transaction.set([], forKey: dueKey(now, id), in: due)
    }
    return try meta.increment("epoch", in: &transaction)
  }

  /// Claims up to `limit` entries that are due by a date, at most one a lane, oldest time first.
  ///
  /// The claims are durable with the transaction, before anything is sent. An entry that cannot be read is held.
  func claim(
    limit: Int, dueBy date: Int64, epoch: UInt64, _ events: inout [OutboxEvent],
    in transaction: inout WriteTransaction
  ) throws(StoreError) -> [Claim] {
    let range = KeyRange(upper: .included(dueKey(date, EntryID(rawValue: .max))))
    var claims: [Claim] = []
    for key in try keys(of: range, in: due, limit: limit, transaction.reader) {
      try transaction.remove(key, in: due)
      guard let id = EntryID(indexKey: key) else { continue }
      guard var state = try soundState(of: id, in: &transaction) else {
        events.append(.held(id, reason: Self.unreadableState))
        continue
      }
      guard state.phase == .waiting else { continue }
      try transaction.set([], forKey: runKey(epoch, id), in: running)
      do throws(StoreError) {
        guard let entry = try entry(id, in: transaction.reader) else {
          throw StoreError(.corruptRecord, "The outbox entry \(id) is gone, but its state is there.")
        }
        state.claim(epoch: epoch)
        try journal.append(.claimed, id, attempt: state.attempts, at: time.now(), in: &transaction)
        claims.append(Claim(entry: entry, epoch: epoch, generation: state.generation))
      } catch  where error.code == .corruptRecord {
        state.hold(error.message)
        try journal.append(.held, id, attempt: state.attempts, reason: error.message, at: time.now(), in: &transaction)
        events.append(.held(id, reason: error.message))
      }
      try set(state, of: id, in: &transaction)
    }
    return claims
  }

  /// Takes the outcome of a claimed attempt, and runs the hook that belongs to it.
  ///
  /// An outcome of an older claim changes nothing: the fence is epoch and generation.
  func settle(
    _ claim: Claim, _ outcome: SendOutcome, _ schedule: RetrySchedule, _ hooks: OutboxHooks,
    in transaction: inout WriteTransaction
  ) throws -> OutboxEvent? {
    let id = claim.entry.id
    guard var state = try state(of: id, in: transaction.reader), state.phase == .inFlight,
      state.epoch == claim.epoch, state.generation == claim.generation
    else {
      try journal.append(.late, id, reason: "\(outcome)", at: time.now(), in: &transaction)
      return nil
    }
    try transaction.remove(runKey(claim.epoch, id), in: running)
    var random = SystemRandomNumberGenerator()
    switch state.settle(outcome, at: time.now(), schedule, using: &random) {
    case .finish:
      guard case .delivered(let reply) = outcome else { return nil }
      try end(claim.entry, state, as: .delivered, in: &transaction)
      try hooks.onCommit(claim.entry, reply, &transaction)
      return .delivered(id)
    case .retry(let date):
      try set(state, of: id, in: &transaction)
      try transaction.set([], forKey: dueKey(date, id), in: due)
      try journal.append(
        .retrying, id, attempt: state.attempts, reason: state.lastError, at: time.now(), in: &transaction)
      return .retrying(id, reason: state.lastError, at: date)
    case .bury(let reason):
      try end(claim.entry, state, as: .dead(reason: reason), in: &transaction)
      try hooks.onRollback(claim.entry, reason, &transaction)
      return .died(id, reason: reason)
    case .hold(let reason):
      try transaction.set([], forKey: runKey(claim.epoch, id), in: running)
      return try hold(claim, reason, in: &transaction)
    }
  }

  /// Sets a claimed entry aside until the next drain; its lane waits for it.
  func hold(
    _ claim: Claim, _ reason: String, in transaction: inout WriteTransaction
  ) throws(StoreError) -> OutboxEvent? {
    guard var state = try state(of: claim.entry.id, in: transaction.reader) else { return nil }
    state.hold(reason)
    try set(state, of: claim.entry.id, in: &transaction)
    try journal.append(
      .held, claim.entry.id, attempt: state.attempts, reason: reason, at: time.now(), in: &transaction)
    return .held(claim.entry.id, reason: reason)
  }

  /// The time at which the next entry may be sent, if one is waiting.
  func nextDue(in transaction: borrowing ReadTransaction) throws(StoreError) -> Int64? {
    var cursor = try transaction.cursor(in: due)
    while try cursor.next() {
      // A row that is none is skipped here, and removed when its turn comes.
      if cursor.key.count == 16 { return Int64(clamping: try EntryID(key: cursor.key, at: 0, of: due).rawValue) }
    }
    return nil
  }

  private static let unreadableState = "its state cannot be read, so nobody knows whether it was sent"

  /// The state of an entry; where it is missing or unreadable, the entry is held, and the others go on.
  func soundState(
    of id: EntryID, in transaction: inout WriteTransaction
  ) throws(StoreError) -> DeliveryState? {
    do throws(StoreError) {
      if let state = try state(of: id, in: transaction.reader) { return state }
    } catch  where error.code == .corruptRecord {
      // Taken care of below.
    }
    var state = DeliveryState(notBefore: time.now())
    state.hold(Self.unreadableState)
    try journal.append(.held, id, reason: Self.unreadableState, at: time.now(), in: &transaction)
    try set(state, of: id, in: &transaction)
    try transaction.set([], forKey: runKey(0, id), in: running)
    return nil
  }

  private func keys(
    of range: KeyRange, in database: Database, limit: Int, _ transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var cursor = try transaction.cursor(in: database, over: range)
    while found.count < limit, try cursor.next() { found.append([UInt8](copying: cursor.key)) }
    return found
  }
}
