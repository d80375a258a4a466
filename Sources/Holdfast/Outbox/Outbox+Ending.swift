import LMDB

/// How an entry leaves the outbox.
enum Ending: Sendable, Hashable {
  /// The server has it.
  case delivered
  /// It was given up, and is kept as a dead letter.
  case dead(reason: String)
  /// It grew too old, and is kept as a dead letter.
  case expired
  /// The app took it back; the server may have it if it was attempted.
  case cancelled
  /// A newer one of the same key took its place.
  case superseded(by: EntryID)
}

extension Outbox {
  /// Takes an entry out of the live set, for whatever reason, and lets the next of its lane go.
  ///
  /// Every entry leaves through this one function: whatever depends on an entry ends with it here.
  func end(
    _ entry: OutboxEntry, _ state: DeliveryState, as ending: Ending, at clock: OutboxClock,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    try removeRows(of: entry, state, in: &transaction)
    try layers.end(
      entry.id.rawValue, isDelivered: ending == .delivered, at: clock.anchor.wall, in: &transaction)
    if let reason = ending.reasonOfDeath {
      let letter = DeadEntry(
        entry: entry, reason: reason.cut(toBytes: 1000), attempts: Int(state.attempts), diedAt: clock.anchor.wall,
        ambiguousSince: state.ambiguousSince)
      try transaction.set(letter.encoded(), forKey: entry.id.key, in: dead)
    } else {
      try removeFiles(of: entry, in: &transaction)
    }
    try note(ending, entry.id, state, at: clock, in: &transaction)
    try promoteHead(ofLane: entry.lane, at: clock, in: &transaction)
  }

  private func removeRows(
    of entry: OutboxEntry, _ state: DeliveryState, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let id = entry.id
    switch state.phase {
    case .waiting: try transaction.remove(DueKey(state, id).bytes, in: due)
    case .inFlight:
      // It is in the row of all of them, but for one that a repair has found.
      if try transaction.reader.count(of: running) > 1 { try transaction.remove(runKey(state.epoch, id), in: running) }
    case .held: try transaction.remove(runKey(state.epoch, id), in: running)
    }
    try transaction.remove(id.key, in: entries)
    try transaction.remove(id.key, in: states)
    try transaction.remove(laneKey(entry.lane, id), in: lanes)
    if let key = entry.key { try transaction.remove(keyKey(entry.queue, key, id), in: keys) }
    if state.expiresAt != 0 { try transaction.remove(expiryKey(state, id), in: expiries) }
  }

  func removeFiles(of entry: OutboxEntry, in transaction: inout WriteTransaction) throws(StoreError) {
    if entry.attachments.isEmpty { return }
    for attachment in entry.attachments { try transaction.remove(attachment.id.bytes, in: attachments) }
    transaction.afterCommit { [folder, attachments = entry.attachments] in
      // A file that cannot be removed now is an orphan, which the next drain collects.
      for attachment in attachments { try? folder.remove(attachment.id) }
    }
  }

  private func note(
    _ ending: Ending, _ id: EntryID, _ state: DeliveryState, at clock: OutboxClock,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let (kind, reason, event): (JournalRecord.Kind, String, OutboxEvent) =
      switch ending {
      case .delivered: (.delivered, "", .delivered(id))
      case .dead(let reason): (.died, reason, .died(id, reason: reason))
      case .expired: (.expired, state.lastError, .expired(id))
      case .cancelled: (.cancelled, "", .cancelled(id))
      case .superseded(let newer): (.superseded, "by \(newer)", .superseded(id, by: newer))
      }
    try note(kind, id, attempt: state.attempts, reason: reason, event, at: clock, in: &transaction)
  }

  /// Offers the first entry that is left in a lane.
  func promoteHead(
    ofLane lane: String, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let next = try head(ofLane: lane, in: transaction),
      let state = try soundState(of: next, at: clock, in: &transaction)
    else { return }
    try offer(next, state, lane: lane, in: &transaction)
  }
}

extension Ending {
  fileprivate var reasonOfDeath: String? {
    switch self {
    case .dead(let reason): reason
    case .expired: "it was not delivered within its maximal age"
    case .delivered, .cancelled, .superseded: nil
    }
  }
}
