import LMDB

extension Outbox {
  /// Brings the outbox of an older version up to date, and refuses that of a newer one.
  ///
  /// - Throws: `unsupportedVersion` if a newer version has written it, or if an older one has and it cannot be changed.
  func prepareLayout() throws(StoreError) {
    do {
      try bringUpToDate()
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.io, "The outbox of \(environment.path) cannot be brought up to date: \(error).")
    }
  }

  private func bringUpToDate() throws {
    let found = try environment.read { transaction in try meta.value(OutboxRow.layoutName, in: transaction) }
    if found == OutboxRow.layout { return }
    guard found < OutboxRow.layout else {
      throw StoreError(
        .unsupportedVersion,
        "The outbox of \(environment.path) has layout \(found), which this version does not know; use a newer one.")
    }
    guard environment.options.mode != .readOnly else {
      // Nothing is in it that would have to be moved.
      let isNew = try environment.read { transaction in try transaction.count(of: states) == 0 }
      if isNew { return }
      throw StoreError(
        .unsupportedVersion,
        "The outbox of \(environment.path) was written by an older version; open it for writing once.")
    }
    try environment.write { transaction in try migrate(in: &transaction) }
  }

  /// Brings the rows of any older layout up to date.
  func migrate(in transaction: inout WriteTransaction) throws(StoreError) {
    // Another process may have been here first.
    let found = try meta.value(OutboxRow.layoutName, in: transaction.reader)
    guard found < OutboxRow.layout else { return }
    if found < 3 { try remakeIndexes(in: &transaction) }
    try moveHighestNumber(in: &transaction)
    try meta.set(OutboxRow.layoutName, to: OutboxRow.layout, in: &transaction)
  }

  /// From layouts before 4: the newest record of the journal tells the highest number of an entry from now on.
  private func moveHighestNumber(in transaction: inout WriteTransaction) throws(StoreError) {
    let told = try meta.value(Self.formerName, in: transaction.reader)
    let highest = max(told, try highestRow(in: transaction.reader))
    // Without a record that could tell it, the former row still does.
    guard let row = try journalRow(telling: highest, in: transaction.reader) else { return }
    try transaction.set(row.value, forKey: row.key, in: journal.rows)
    try transaction.removeValue(forKey: Self.formerName, in: metaRows)
  }

  /// From layout 1: the rows of what is due get the route and the priority of their entries. Old times are those of
  /// the wall clock, at which the outbox's own clock begins. From 1 and 2: the rows of lanes are made anew; an entry that
  /// cannot be read has none any more, and keeps back what is behind it no longer.
  private func remakeIndexes(in transaction: inout WriteTransaction) throws(StoreError) {
    _ = try startedClock(in: &transaction)
    let old = try transaction.reader.keys(of: .all, in: due, limit: .max)
    for key in old where key.count != DueKey.length {
      try transaction.remove(key, in: due)
      guard let id = EntryID(indexKey: key), let state = try readableState(of: id, in: transaction.reader),
        state.phase == .waiting
      else { continue }
      try transaction.insert(DueKey(state, id).bytes, in: due)
    }
    try transaction.removeEverything(in: lanes)
    for key in try transaction.reader.keys(of: .all, in: entries, limit: .max) {
      guard let id = OutboxRow.id(key), let entry = try readableEntry(id, in: transaction.reader) else { continue }
      try transaction.insert(laneKey(entry.lane, id), in: lanes)
    }
  }
}
