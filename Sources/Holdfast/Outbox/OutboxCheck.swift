import LMDB

/// One pass over the outbox, which compares each row with those it should agree with.
struct OutboxCheck {
  enum Fix {
    case add([UInt8], [UInt8], Database)
    case remove([UInt8], Database)
    case hold(EntryID)
  }

  private let outbox: Outbox
  private(set) var report = Outbox.VerifyReport()
  private(set) var fixes: [Fix] = []
  /// The epochs in whose rows entries are said to be in flight.
  private var inFlight: [EntryID: UInt64] = [:]

  init(_ outbox: Outbox) { self.outbox = outbox }

  mutating func run(in transaction: borrowing ReadTransaction) throws(StoreError) {
    // First, since whatever is put right is noted in the journal.
    try checkJournal(in: transaction)
    try checkRunning(in: transaction)
    try checkEntries(in: transaction)
    try checkStates(in: transaction)
    try checkIndexes(in: transaction)
    try checkAttachments(in: transaction)
    try checkDead(in: transaction)
    try checkCursors(in: transaction)
  }

  // MARK: Each entry has its rows

  private mutating func checkEntries(in transaction: borrowing ReadTransaction) throws(StoreError) {
    var cursor = try transaction.cursor(in: outbox.entries)
    while try cursor.next() {
      guard let id = id(of: cursor.key, "outbox.entry") else { continue }
      do throws(StoreError) {
        let entry = try OutboxEntry(decoding: cursor.value, id: id, attachmentsIn: outbox.folder)
        try check(entry, in: transaction)
      } catch  where error.code == .corruptRecord {
        report.add(error.message)
      }
    }
  }

  private mutating func check(_ entry: OutboxEntry, in transaction: borrowing ReadTransaction) throws(StoreError) {
    let id = entry.id
    guard let state = try outbox.readableState(of: id, in: transaction) else {
      report.add("The state of the entry \(id) is missing or cannot be read.")
      fixes.append(.hold(id))
      return
    }
    if state.route != entry.route.number || state.priority != entry.priority || state.recovery != entry.recovery {
      report.add("The state of the entry \(id) has another route or policy than the entry.")
    }
    try require(outbox.laneKey(entry.lane, id).array, in: outbox.lanes, of: id, transaction)
    if let key = entry.key {
      try require(outbox.keyKey(entry.queue, key, id).array, in: outbox.keys, of: id, transaction)
    }
    if state.expiresAt != 0 { try require(outbox.expiryKey(state, id).array, in: outbox.expiries, of: id, transaction) }
    let isListed = state.phase == .inFlight && inFlight[id] == state.epoch
    if state.phase != .waiting && !isListed {
      try require(outbox.runKey(state.epoch, id).array, in: outbox.running, of: id, transaction)
    }
    if try isOffered(entry, state, in: transaction) {
      try require(DueKey(state, id).bytes.array, in: outbox.due, of: id, transaction)
    }
    for attachment in entry.attachments {
      try require(attachment.id.bytes, in: outbox.attachments, of: id, value: id.key.array, transaction)
      if !FileSystem.exists(attachment.path) {
        report.add("The file \(attachment.path) of the entry \(id) is missing.")
      }
    }
  }

  private func isOffered(
    _ entry: OutboxEntry, _ state: DeliveryState, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    guard state.phase == .waiting, try outbox.head(ofLane: entry.lane, in: transaction).map({ $0 >= entry.id }) ?? true
    else {
      return false
    }
    return try !outbox.isPaused(.lane(entry.lane), in: transaction)
  }

  private mutating func require(
    _ key: [UInt8], in database: Database, of id: EntryID, value: [UInt8] = [],
    _ transaction: borrowing ReadTransaction
  ) throws(StoreError) {
    if try transaction.value(forKey: key.span, in: database) != nil { return }
    report.add("The entry \(id) has no row in \(database.name).")
    fixes.append(.add(key, value, database))
  }

  private mutating func checkStates(in transaction: borrowing ReadTransaction) throws(StoreError) {
    var cursor = try transaction.cursor(in: outbox.states)
    while try cursor.next() {
      guard let id = id(of: cursor.key, "outbox.state") else { continue }
      if try transaction.value(forKey: id.key, in: outbox.entries) == nil {
        report.add("There is a state of the entry \(id), but no entry.")
        fixes.append(.remove(id.key.array, outbox.states))
      }
    }
  }

  // MARK: Each index row has its entry

  private mutating func checkIndexes(in transaction: borrowing ReadTransaction) throws(StoreError) {
    try checkIndex(outbox.lanes, in: transaction) { outbox, entry, _ in
      outbox.laneKey(entry.lane, entry.id)
    }
    try checkIndex(outbox.keys, length: 24, in: transaction) { outbox, entry, _ in
      entry.key.map { outbox.keyKey(entry.queue, $0, entry.id) }
    }
    try checkIndex(outbox.expiries, length: 16, in: transaction) { outbox, entry, state in
      state.expiresAt == 0 ? nil : outbox.expiryKey(state, entry.id)
    }
    try checkDue(in: transaction)
  }

  /// Compares the rows of an index with what their entries say; what cannot be read keeps its rows.
  private mutating func checkIndex(
    _ index: Database, length: Int? = nil, in transaction: borrowing ReadTransaction,
    _ expected: (Outbox, OutboxEntry, DeliveryState) -> ShortBytes?
  ) throws(StoreError) {
    var cursor = try transaction.cursor(in: index)
    while try cursor.next() {
      let key = [UInt8](copying: cursor.key)
      guard length == nil || key.count == length, let id = EntryID(endOf: key),
        try transaction.value(forKey: id.key, in: outbox.entries) != nil
      else {
        stray(key, index)
        continue
      }
      guard let entry = try outbox.readableEntry(id, in: transaction),
        let state = try outbox.readableState(of: id, in: transaction)
      else { continue }
      if expected(outbox, entry, state)?.array != key { stray(key, index) }
    }
  }

  private mutating func checkRunning(in transaction: borrowing ReadTransaction) throws(StoreError) {
    let claimed = try outbox.claimed(in: transaction)
    for key in claimed.damaged { stray(key, outbox.running) }
    for row in claimed.rows {
      var sound: [EntryID] = []
      for id in row.ids where try isClaimed(id, row, in: transaction) {
        sound.append(id)
        if row.isList { inFlight[id] = row.epoch }
      }
      if sound.isEmpty {
        stray(row.key, outbox.running)
      } else if sound.count < row.ids.count {
        report.add("The row \(row.key.hexadecimal) of outbox.run names entries that are not in flight.")
        let value = sound.reduce(into: ByteWriter()) { $0.append($1.rawValue) }.bytes
        fixes.append(.add(row.key, value, outbox.running))
      }
    }
  }

  /// Whether a row names an entry rightly; one that cannot be read keeps its rows.
  private func isClaimed(
    _ id: EntryID, _ row: Outbox.Claimed, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    guard try transaction.value(forKey: id.key, in: outbox.entries) != nil else { return false }
    guard try outbox.readableEntry(id, in: transaction) != nil,
      let state = try outbox.readableState(of: id, in: transaction)
    else { return true }
    return state.epoch == row.epoch && (row.isList ? state.phase == .inFlight : state.phase != .waiting)
  }

  private mutating func checkDue(in transaction: borrowing ReadTransaction) throws(StoreError) {
    var cursor = try transaction.cursor(in: outbox.due)
    while try cursor.next() {
      let bytes = [UInt8](copying: cursor.key)
      guard let key = DueKey(bytes: cursor.key), let entry = try outbox.readableEntry(key.id, in: transaction),
        let state = try outbox.readableState(of: key.id, in: transaction), DueKey(state, key.id) == key,
        try isOffered(entry, state, in: transaction)
      else {
        stray(bytes, outbox.due)
        continue
      }
    }
  }

  private mutating func stray(_ key: [UInt8], _ database: Database) {
    report.add("The row \(key.hexadecimal) of \(database.name) belongs to no entry.")
    fixes.append(.remove(key, database))
  }

  // MARK: The rest

  private mutating func checkAttachments(in transaction: borrowing ReadTransaction) throws(StoreError) {
    var cursor = try transaction.cursor(in: outbox.attachments)
    while try cursor.next() {
      let key = [UInt8](copying: cursor.key)
      guard let id = try? EntryID(key: cursor.value, at: 0, of: outbox.attachments) else {
        report.add("The row \(key.hexadecimal) of outbox.attachment cannot be read.")
        continue
      }
      let isLive = try transaction.value(forKey: id.key, in: outbox.entries) != nil
      let isDead = try transaction.value(forKey: id.key, in: outbox.dead) != nil
      if !isLive && !isDead { stray(key, outbox.attachments) }
    }
  }

  private mutating func checkDead(in transaction: borrowing ReadTransaction) throws(StoreError) {
    var cursor = try transaction.cursor(in: outbox.dead)
    while try cursor.next() {
      guard let id = id(of: cursor.key, "outbox.dead") else { continue }
      do throws(StoreError) {
        _ = try DeadEntry(decoding: cursor.value, id: id, attachmentsIn: outbox.folder)
      } catch {
        report.add(error.message)
      }
    }
  }

  private mutating func checkCursors(in transaction: borrowing ReadTransaction) throws(StoreError) {
    for problem in try outbox.cursors.problems(outbox.journal, in: transaction) {
      report.add(problem.text)
      if let key = problem.acknowledgement { fixes.append(.remove(key, outbox.cursors.acknowledgements)) }
    }
  }

  private mutating func checkJournal(in transaction: borrowing ReadTransaction) throws(StoreError) {
    var last: UInt64?
    var cursor = try transaction.cursor(in: outbox.journal.rows)
    while try cursor.next() {
      guard let number = Journal.number(of: cursor.key), number + 1 < Journal.end else {
        report.add("A key of outbox.log is no number of a record.")
        // Nothing could be appended behind it.
        fixes.append(.remove([UInt8](copying: cursor.key), outbox.journal.rows))
        continue
      }
      if let last, number != last + 1 { report.add("The journal has a gap before its record \(number).") }
      last = number
      do throws(Malformed) {
        _ = try JournalRecord(number, decoding: cursor.value)
      } catch {
        report.add("The record \(number) of the journal cannot be read: \(error.reason).")
      }
    }
    try checkHighest(in: transaction)
  }

  /// Numbers would be given twice if the journal told less than there is.
  private mutating func checkHighest(in transaction: borrowing ReadTransaction) throws(StoreError) {
    do throws(StoreError) {
      let highest = try outbox.highestRow(in: transaction)
      guard let row = try outbox.journalRow(telling: highest, in: transaction) else { return }
      report.add("The journal does not know that there is an entry \(highest).")
      fixes.append(.add(row.key, row.value, outbox.journal.rows))
    } catch  where error.code == .corruptRecord {
      // The key that is no number has been named.
    }
  }

  private mutating func id(of key: Span<UInt8>, _ name: String) -> EntryID? {
    if key.count == 8, let number = try? key.loadBigEndian(UInt64.self, at: 0) { return EntryID(rawValue: number) }
    report.add("A key of \(name) is not a number.")
    return nil
  }
}
