public import LMDB

/// Which entries are meant.
public enum OutboxSelection: Sendable, Hashable {
  /// The one of this number.
  case entry(EntryID)
  /// All of a key in a queue.
  case key(String, queue: String = "")
  /// All of a lane.
  case lane(String)
}

/// What becomes of an entry that is held.
public enum HeldDecision: Sendable, Hashable {
  /// It is sent again, under its key.
  case resend
  /// The server has it.
  case delivered
  /// It is given up.
  case giveUp(reason: String)
}

/// What the app decides about entries. No hooks run: make the changes that belong to a decision in its transaction.
extension Outbox {
  /// Takes entries back.
  ///
  /// What is not in flight is gone with the commit. An attempt in flight is cancelled, and its entry leaves when that
  /// has come back: as delivered if it was, and as cancelled otherwise. What has been attempted before may have reached
  /// the server. An entry that cannot be read is removed too if its number is given.
  ///
  /// - Parameters:
  ///   - selection: Which entries.
  ///   - transaction: A write transaction of this store.
  /// - Returns: How many there were.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  @discardableResult
  public func cancel(
    _ selection: OutboxSelection, in transaction: inout WriteTransaction
  ) throws(StoreError) -> Int {
    let clock = try clock(in: transaction.reader)
    var count = 0
    for id in try ids(of: selection, in: transaction.reader) {
      guard try transaction.value(forKey: id.key, in: entries) != nil else { continue }
      count += 1
      guard var state = try readableState(of: id, in: transaction.reader),
        let entry = try readableEntry(id, in: transaction.reader)
      else {
        try forget(id, at: clock, in: &transaction)
        continue
      }
      if state.phase == .inFlight {
        state.isCancelRequested = true
        try set(state, of: id, in: &transaction)
        let before = try cancellations(in: transaction.reader) ?? 0
        try meta.set(Self.cancellationsName, to: before &+ 1, in: &transaction)
      } else {
        try end(entry, state, as: .cancelled, at: clock, in: &transaction)
      }
    }
    if count > 0 { transaction.afterCommit { [wakeUp] in wakeUp.signal() } }
    return count
  }

  private static let cancellationsName = "cancellations"

  /// How often the end of an attempt was asked for, so that a drain need not look at each in flight; `nil` if that cannot
  /// be read.
  func cancellations(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64? {
    do throws(StoreError) {
      return try meta.value(Self.cancellationsName, in: transaction)
    } catch  where error.code == .corruptRecord {
      return nil
    }
  }

  private func ids(
    of selection: OutboxSelection, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [EntryID] {
    switch selection {
    case .entry(let id): [id]
    case .key(let key, let queue): try ids(ofKey: key, queue: queue, in: transaction)
    case .lane(let lane): try ids(ofLane: lane, in: transaction)
    }
  }

  /// Decides about an entry that is held.
  ///
  /// - Parameters:
  ///   - id: The entry.
  ///   - decision: What becomes of it.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `notFound` if it is not held; `corruptRecord` if it cannot be read.
  public func resolve(
    _ id: EntryID, as decision: HeldDecision, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard var state = try state(of: id, in: transaction.reader), state.phase == .held,
      let entry = try entry(id, in: transaction.reader)
    else { throw StoreError(.notFound, "The outbox entry \(id) is not held; look at what is, and decide anew.") }
    let clock = try clock(in: transaction.reader)
    switch decision {
    case .delivered:
      try end(entry, state, as: .delivered, at: clock, in: &transaction)
    case .giveUp(let reason):
      try end(entry, state, as: .dead(reason: reason), at: clock, in: &transaction)
    case .resend:
      try transaction.remove(runKey(state.epoch, id), in: running)
      _ = state.release(at: clock.time)
      state.ambiguousSince = 0
      state.isCancelRequested = false
      try set(state, of: id, in: &transaction)
      try offer(id, state, lane: entry.lane, in: &transaction)
      try note(.requeued, id, attempt: state.attempts, .requeued(id), at: clock, in: &transaction)
    }
    transaction.afterCommit { [wakeUp] in wakeUp.signal() }
  }

  /// Sends a dead letter again: it goes to the end of its lane under a new number, with all its attempts before it and
  /// its old idempotency key.
  ///
  /// Its optimistic changes ended when it died, and the hook may have told the user so. They come back only if they are
  /// given again.
  ///
  /// - Parameters:
  ///   - id: The number under which it died.
  ///   - optimistic: What the user is to see until it is settled, as in ``OutboxRequest/optimistic``.
  ///   - optimisticPolicy: What becomes of that when it is delivered.
  ///   - transaction: A write transaction of this store.
  /// - Returns: Its new number.
  /// - Throws: `notFound` if there is no such dead letter; `corruptRecord` if it cannot be read; `outboxFull`; as
  ///   ``enqueue(_:in:)`` for the optimistic changes.
  @discardableResult
  public func requeue(
    _ id: EntryID, optimistic: [StateKey: FieldChanges] = [:], optimisticPolicy: OptimisticPolicy = .fold,
    in transaction: inout WriteTransaction
  ) throws(StoreError) -> EntryID {
    let letter = try deadLetter(id, in: transaction.reader)
    try environment.checkHeadroom(in: transaction, or: .outboxFull)
    let clock = try startedClock(in: &transaction)
    let entry = letter.entry.renumbered(try nextID(in: transaction))
    var state = DeliveryState(notBefore: clock.time)
    // It may have been sent, but has all its attempts before it.
    state.attempts = UInt16(clamping: letter.attempts)
    state.uncounted = state.attempts
    state.ambiguousSince = letter.ambiguousSince
    try insert(entry, &state, in: &transaction)
    for attachment in entry.attachments {
      try transaction.set(entry.id.key.array, forKey: attachment.id.bytes, in: attachments)
    }
    try transaction.remove(id.key, in: dead)
    try layers.add(optimistic, for: entry.id.rawValue, optimisticPolicy, in: &transaction)
    try note(
      .requeued, entry.id, attempt: state.attempts, reason: "was \(id)", isNew: true, .requeued(entry.id), at: clock,
      in: &transaction)
    transaction.afterCommit { [wakeUp] in wakeUp.signal() }
    return entry.id
  }

  /// Removes a dead letter for good, with its files.
  ///
  /// - Parameters:
  ///   - id: The number under which it died.
  ///   - transaction: A write transaction of this store.
  /// - Throws: `notFound` if there is no such dead letter; `corruptRecord` if it cannot be read.
  public func discard(_ id: EntryID, in transaction: inout WriteTransaction) throws(StoreError) {
    let letter = try deadLetter(id, in: transaction.reader)
    try transaction.remove(id.key, in: dead)
    try removeFiles(of: letter.entry, in: &transaction)
    let clock = try clock(in: transaction.reader)
    try note(
      .discarded, id, attempt: UInt16(clamping: letter.attempts), reason: letter.reason, at: clock, in: &transaction)
  }

  private func deadLetter(
    _ id: EntryID, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> DeadEntry {
    guard let letter = try deadEntry(id, in: transaction) else {
      throw StoreError(.notFound, "There is no dead letter \(id); list them, and choose one.")
    }
    return letter
  }
}
