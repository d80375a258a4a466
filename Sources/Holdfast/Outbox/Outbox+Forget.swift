import LMDB

extension Outbox {
  /// Removes an entry that cannot be read, with whatever names it, and lets the next of its lane go.
  ///
  /// Only the rows can tell its lane, so that this looks at all of them.
  func forget(_ id: EntryID, at clock: OutboxClock, in transaction: inout WriteTransaction) throws(StoreError) {
    let state = try readableState(of: id, in: transaction.reader)
    if let state {
      try transaction.remove(DueKey(state, id).bytes, in: due)
      try transaction.remove(runKey(state.epoch, id), in: running)
      try transaction.remove(expiryKey(state, id), in: expiries)
    }
    try transaction.remove(id.key, in: entries)
    try transaction.remove(id.key, in: states)
    try layers.end(id.rawValue, isDelivered: false, at: clock.anchor.wall, in: &transaction)
    for index in [lanes, keys] {
      for key in try rows(of: index, naming: id, in: transaction.reader) {
        try transaction.remove(key, in: index)
        guard index.name == lanes.name,
          let next = try transaction.reader.keys(of: .prefix(Array(key.dropLast(8))), in: lanes, limit: 1).first,
          let nextID = EntryID(endOf: next),
          let lane = try readableEntry(nextID, in: transaction.reader)?.lane
        else { continue }
        try promoteHead(ofLane: lane, at: clock, in: &transaction)
      }
    }
    let event = OutboxEvent.cancelled(id)
    try note(
      .cancelled, id, attempt: state?.attempts ?? 0, reason: "it could not be read", event, at: clock, in: &transaction)
  }

  private func rows(
    of index: Database, naming id: EntryID, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var cursor = try transaction.cursor(in: index)
    while try cursor.next() {
      let key = [UInt8](copying: cursor.key)
      if EntryID(endOf: key) == id { found.append(key) }
    }
    return found
  }
}
