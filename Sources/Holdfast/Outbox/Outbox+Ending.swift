import LMDB

/// How an entry leaves the outbox.
enum Ending: Sendable, Hashable {
  /// The server has it.
  case delivered
  /// It was given up, and is kept as a dead letter.
  case dead(reason: String)

  var journalKind: JournalRecord.Kind {
    switch self {
    case .delivered: .delivered
    case .dead: .died
    }
  }

  var reason: String {
    switch self {
    case .delivered: ""
    case .dead(let reason): reason
    }
  }
}

extension Outbox {
  /// Takes an entry out of the live set, for whatever reason, and lets the next of its lane go.
  ///
  /// Every entry leaves through this one function: whatever depends on an entry ends with it here.
  func end(
    _ entry: OutboxEntry, _ state: DeliveryState, as ending: Ending, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let now = time.now()
    try transaction.remove(entry.id.key, in: entries)
    try transaction.remove(entry.id.key, in: states)
    try transaction.remove(laneKey(entry.lane, entry.id), in: lanes)
    try layers.end(entry.id.rawValue, isDelivered: ending == .delivered, at: now, in: &transaction)
    if case .dead(let reason) = ending {
      let letter = DeadEntry(
        entry: entry, reason: reason.cut(toBytes: 1000), attempts: Int(state.attempts), diedAt: now)
      try transaction.set(letter.encoded(), forKey: entry.id.key, in: dead)
    } else {
      try removeFiles(of: entry, in: &transaction)
    }
    try journal.append(
      ending.journalKind, entry.id, attempt: state.attempts, reason: ending.reason, at: now, in: &transaction)
    guard let next = try head(ofLane: entry.lane, in: transaction.reader),
      let state = try soundState(of: next, in: &transaction)
    else { return }
    try transaction.set([], forKey: dueKey(state.notBefore, next), in: due)
  }

  private func removeFiles(
    of entry: OutboxEntry, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    if entry.attachments.isEmpty { return }
    for attachment in entry.attachments { try transaction.remove(attachment.id.bytes, in: attachments) }
    transaction.afterCommit { [folder, attachments = entry.attachments] in
      // A file that cannot be removed now is an orphan, which the next drain collects.
      for attachment in attachments { try? folder.remove(attachment.id) }
    }
  }
}
