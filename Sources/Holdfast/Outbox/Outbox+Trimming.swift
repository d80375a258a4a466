public import LMDB

/// How much of the journal is kept.
///
/// By numbers and not by age: a clock that is set wrong would throw away what somebody still needs.
public struct JournalRetention: Sendable, Hashable {
  /// How many of the newest records are kept in any case.
  public var minimum: Int
  /// How many are kept at most; a required cursor that is further behind misses what is trimmed.
  public var limit: Int

  /// Makes a retention.
  ///
  /// - Parameters:
  ///   - minimum: How many of the newest records are kept in any case.
  ///   - limit: How many are kept at most, also for required cursors.
  public init(minimum: Int = 10_000, limit: Int = 1_000_000) {
    self.minimum = minimum
    self.limit = limit
  }
}

extension Outbox {
  /// What a trimming has done.
  public struct JournalTrimming: Sendable, Hashable {
    /// How many records were removed.
    public internal(set) var removed: Int
    /// The cursors that missed some of them.
    public internal(set) var overrun: [String]

    /// Makes an account, to compare with.
    ///
    /// - Parameters:
    ///   - removed: How many records were removed.
    ///   - overrun: The cursors that missed some of them.
    public init(removed: Int = 0, overrun: [String] = []) {
      self.removed = removed
      self.overrun = overrun
    }
  }

  /// The most records that one trimming removes.
  static let trimmingStep = 4096

  /// Removes old records from the journal: those beyond the minimum that no required cursor needs, and those beyond the
  /// limit.
  ///
  /// The drain does this as it goes. Removes at most 4096 records, so that a write is never held up for long. A cursor
  /// that misses some keeps count of them, and says so the next time that it is read.
  ///
  /// - Parameters:
  ///   - retention: How much is kept. The newest record always is, since it carries the number.
  ///   - transaction: A write transaction of this store.
  /// - Returns: What was done.
  /// - Throws: As any write.
  @discardableResult
  public func trimJournal(
    _ retention: JournalRetention, in transaction: inout WriteTransaction
  ) throws(StoreError) -> JournalTrimming {
    try trimJournal(retention, atMost: Self.trimmingStep, in: &transaction)
  }

  private func trimJournal(
    _ retention: JournalRetention, atMost step: Int, in transaction: inout WriteTransaction
  ) throws(StoreError) -> JournalTrimming {
    guard let first = try journal.firstSequence(in: transaction.reader) else { return JournalTrimming() }
    let last = try journal.lastSequence(in: transaction.reader)
    let limit = max(1, retention.limit)
    let minimum = min(max(1, retention.minimum), limit)
    guard last - first >= UInt64(minimum) else { return JournalTrimming() }
    var rows = try cursors.allRows(in: transaction.reader)
    for index in rows.indices where rows[index].row.isRequired {
      // What a cursor does not want, it does not keep.
      let former = rows[index].row
      try cursors.acknowledge([], &rows[index].row, journal, in: &transaction)
      if rows[index].row != former { try cursors.set(rows[index].row, of: rows[index].name, in: &transaction) }
    }
    let needed = rows.lazy.filter(\.row.isRequired).map(\.row.floor).min() ?? last
    let soft = min(needed, last - UInt64(minimum))
    let hard = last > UInt64(limit) ? last - UInt64(limit) : 0
    let end = min(max(soft, hard), first - 1 + UInt64(step))
    guard end >= first else { return JournalTrimming() }
    var trimming = JournalTrimming()
    for (name, row) in rows where row.floor < end {
      let missed = try pass(end, name, row, in: &transaction)
      if missed > 0 { trimming.overrun.append(name) }
    }
    trimming.removed = try removeRecords(first...end, in: &transaction)
    return trimming
  }

  /// Removes records in the order of ``RemovalOrder``, which takes a third of the instructions.
  private func removeRecords(
    _ numbers: ClosedRange<UInt64>, in transaction: inout WriteTransaction
  ) throws(StoreError) -> Int {
    var removed = 0
    for isLast in [false, true] {
      for number in numbers where RemovalOrder.isLast(number) == isLast {
        if try transaction.removeValue(forKey: ShortBytes(bigEndian: number), in: journal.rows) { removed += 1 }
      }
    }
    // What is left is no number.
    return removed
      + (try transaction.removeAll(KeyRange(upper: .included(numbers.upperBound.bigEndianBytes)), in: journal.rows))
  }

  /// Trims more than a turn of the drain adds that has changed so many entries, so that the journal does not grow with
  /// what is delivered, and not much more, so that a turn costs the same whatever is there to trim.
  func trimJournal(
    _ retention: JournalRetention, afterChanging count: Int, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let first = try journal.firstSequence(in: transaction.reader) else { return }
    // Two changes are an entry's life, of three records.
    let step = 64 + 4 * count
    let excess = try journal.lastSequence(in: transaction.reader) - first
    if excess < UInt64(max(1, retention.minimum)) + UInt64(step) { return }
    _ = try trimJournal(retention, atMost: step, in: &transaction)
  }

  /// Raises the floor of a cursor to what is about to be trimmed.
  ///
  /// - Returns: How many of the records it would have wanted.
  private func pass(
    _ end: UInt64, _ name: String, _ row: ReplayCursorRow, in transaction: inout WriteTransaction
  ) throws(StoreError) -> UInt64 {
    let missed = try pending(row, upTo: end, in: transaction.reader)
    var row = row
    row.missed = row.missed > .max - missed ? .max : row.missed + missed
    row.floor = end
    try cursors.removeAcknowledgements(of: row, upTo: end, in: &transaction)
    try cursors.acknowledge([], &row, journal, in: &transaction)
    try cursors.set(row, of: name, in: &transaction)
    return missed
  }

  private func pending(
    _ row: ReplayCursorRow, upTo end: UInt64, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> UInt64 {
    let range = KeyRange(lower: .excluded(row.floor.bigEndianBytes), upper: .included(end.bigEndianBytes))
    var records = try transaction.cursor(in: journal.rows, over: range)
    var count: UInt64 = 0
    while try records.next() {
      let number = try EntryID(key: records.key, at: 0, of: journal.rows).rawValue
      if row.wants(records.value), try !cursors.isAcknowledged(number, by: row, in: transaction) { count += 1 }
    }
    return count
  }
}
