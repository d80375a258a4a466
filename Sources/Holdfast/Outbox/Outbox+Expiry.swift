import LMDB

extension Outbox {
  /// How many are given up in one transaction.
  private static let expiryBatch = 100

  /// Gives up what is too old and not in flight, and runs the hook that belongs to it.
  ///
  /// - Returns: How many there were, and when the next one will be too old, on the clock's own scale.
  func expire(
    _ hooks: OutboxHooks, inFlight: Int, epoch: UInt64, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws -> (count: Int, next: Int64?) {
    let end = UInt64(clamping: clock.age) + 1
    let past = KeyRange(upper: .excluded(end.bigEndianBytes))
    var count = 0
    for key in try transaction.reader.keys(of: past, in: expiries, limit: Self.expiryBatch + inFlight) {
      if try expire(key, hooks, epoch: epoch, at: clock, in: &transaction) { count += 1 }
    }
    var cursor = try transaction.cursor(in: expiries, over: KeyRange(lower: .included(end.bigEndianBytes)))
    guard try cursor.next(), cursor.key.count == 16 else { return (count, nil) }
    let at = Int64(clamping: try EntryID(key: cursor.key, at: 0, of: expiries).rawValue)
    return (count, clock.time + max(0, at - clock.age))
  }

  private func expire(
    _ key: [UInt8], _ hooks: OutboxHooks, epoch: UInt64, at clock: OutboxClock,
    in transaction: inout WriteTransaction
  ) throws -> Bool {
    guard let id = EntryID(indexKey: key), let state = try readableState(of: id, in: transaction.reader),
      expiryKey(state, id).array == key, let entry = try readableEntry(id, in: transaction.reader)
    else {
      try transaction.remove(key, in: expiries)
      return true
    }
    // Its outcome decides; if it has to be tried again, its time is over then.
    if state.phase == .inFlight { return false }
    do {
      try transaction.nested { nested in
        try end(entry, state, as: .expired, at: clock, in: &nested)
        try hooks.rollback(entry, "it was not delivered within its maximal age", in: &nested)
      }
    } catch {
      if transaction.isDoomed { throw OutboxHooks.cause(of: error) }
      var state = state
      if state.phase == .held { try transaction.remove(runKey(state.epoch, id), in: running) }
      state.expiresAt = 0
      try transaction.remove(key, in: expiries)
      let reason = OutboxHooks.reason(for: error)
      try setAside(id, &state, reason, .unfit, epoch: epoch, at: clock, in: &transaction)
    }
    return true
  }
}
