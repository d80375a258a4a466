import LMDB

extension Outbox {
  /// Starts a new epoch: what earlier drains left in flight or held is judged anew.
  ///
  /// Only whoever holds the drain's lock may call it. Costs a step for each entry in flight or held, whatever else
  /// waits.
  func recover(in transaction: inout WriteTransaction) throws(StoreError) -> UInt64 {
    var clock = try clock(in: transaction.reader)
    let claimed = try claimed(in: transaction.reader)
    for key in claimed.damaged { try transaction.remove(key, in: running) }
    for row in claimed.rows {
      if row.isList { try transaction.remove(row.key, in: running) }
      for id in row.ids { try recover(id, of: row, at: clock, in: &transaction) }
    }
    clock.advance(to: time.moment)
    try set(clock, in: &transaction)
    let epoch = try nextEpoch(in: transaction.reader)
    try store(epoch: epoch, in: &transaction)
    return epoch
  }

  private static let epochName = "epoch"

  /// The number of the epoch that begins now.
  func nextEpoch(in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    try meta.next(Self.epochName, in: transaction)
  }

  func store(epoch: UInt64, in transaction: inout WriteTransaction) throws(StoreError) {
    try meta.set(Self.epochName, to: epoch, in: &transaction)
  }

  /// Whether there is nothing to drain or to recover.
  func isEmpty(in transaction: borrowing ReadTransaction) throws(StoreError) -> Bool {
    for database in [entries, states, running] where try transaction.count(of: database) > 0 { return false }
    return true
  }

  private func recover(
    _ id: EntryID, of row: Claimed, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let key = runKey(row.epoch, id)
    guard var state = try readableState(of: id, in: transaction.reader), state.phase != .waiting,
      state.epoch == row.epoch
    else {
      try transaction.remove(key, in: running)
      // A state that was unreadable gets its row anew, as long as it is.
      _ = try soundState(of: id, at: clock, in: &transaction)
      return
    }
    let before = state
    guard let entry = try readableEntry(id, in: transaction.reader), let action = state.recover(at: clock.time) else {
      // It stays as it is.
      if row.isList { try transaction.insert(key, in: running) }
      return
    }
    switch action {
    case .cancel:
      try transaction.remove(key, in: running)
      try end(entry, before, as: .cancelled, at: clock, in: &transaction)
    case .hold(let reason):
      try transaction.insert(key, in: running)
      try set(state, of: id, in: &transaction)
      try note(
        .held, id, attempt: state.attempts, reason: reason, .held(id, reason: reason), at: clock, in: &transaction)
    case .retry, .finish, .bury:
      try transaction.remove(key, in: running)
      try set(state, of: id, in: &transaction)
      try offer(id, state, lane: entry.lane, in: &transaction)
      try note(
        .requeued, id, attempt: state.attempts, reason: state.lastError, .requeued(id), at: clock, in: &transaction)
    }
  }

  static let unreadableState = "its state cannot be read, so nobody knows whether it was sent"

  /// The state of an entry; where it is missing or unreadable, the entry is held, and the others go on.
  func soundState(
    of id: EntryID, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) -> DeliveryState? {
    if let state = try readableState(of: id, in: transaction) { return state }
    let isThere = try transaction.value(forKey: id.key, in: entries) != nil
    guard isThere else { return nil }
    var state = DeliveryState(notBefore: clock.time)
    state.attempts = 1
    if let entry = try readableEntry(id, in: transaction.reader) {
      (state.route, state.priority, state.recovery) = (entry.route.number, entry.priority, entry.recovery)
    }
    state.hold(inDoubt: Self.unreadableState, at: clock.time)
    try transaction.insert(runKey(state.epoch, id), in: running)
    try set(state, of: id, in: &transaction)
    try note(
      .held, id, reason: Self.unreadableState, .held(id, reason: Self.unreadableState), at: clock, in: &transaction)
    return nil
  }
}
