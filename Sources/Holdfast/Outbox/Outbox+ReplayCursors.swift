public import LMDB

extension Outbox {
  /// Where a replay cursor stands.
  public struct ReplayPosition: Sendable, Hashable {
    /// The name of the cursor.
    public let name: String
    /// The number up to which everything is done with.
    public let floor: UInt64
    /// How many records above the floor are done with.
    public let acknowledgedAhead: Int
    /// Whether the journal is kept for it.
    public let isRequired: Bool
    /// How many records were trimmed before it had them; above zero, it must be sought.
    public let missed: UInt64
    /// When it was made, in milliseconds since 1970.
    public let createdAt: Int64

    /// Makes a position, to compare with.
    ///
    /// - Parameters:
    ///   - name: The name of the cursor.
    ///   - floor: The number up to which everything is done with.
    ///   - acknowledgedAhead: How many records above the floor are done with.
    ///   - isRequired: Whether the journal is kept for it.
    ///   - missed: How many records were trimmed before it had them.
    ///   - createdAt: When it was made, in milliseconds since 1970.
    public init(
      name: String, floor: UInt64, acknowledgedAhead: Int = 0, isRequired: Bool = true, missed: UInt64 = 0,
      createdAt: Int64 = 0
    ) {
      self.name = name
      self.floor = floor
      self.acknowledgedAhead = acknowledgedAhead
      self.isRequired = isRequired
      self.missed = missed
      self.createdAt = createdAt
    }
  }

  /// Opens a replay cursor and becomes its one committer; makes it if there is none of that name.
  ///
  /// Atomic with the transaction: a cursor that begins `now` misses nothing that is committed after it and sees nothing
  /// from before.
  ///
  /// - Parameters:
  ///   - name: Its name, from 1 to ``ReplayCursor/nameLimit`` bytes.
  ///   - start: Where a new one begins; one that exists stays where it is.
  ///   - kinds: What it wants to see; `nil` for all that happens to entries.
  ///   - isRequired: Whether the journal is kept until the cursor has seen it, up to ``JournalRetention/limit``.
  ///   - transaction: A write transaction of this store.
  /// - Returns: The cursor.
  /// - Throws: `invalidValue` for a name that is empty or too long, or a start that does not exist yet; `cursorOverrun`
  ///   for a start that is not kept any more; `invalidOption` if the cursor exists and wants other kinds; `damaged` if it
  ///   is ahead of the journal.
  public func replayCursor(
    _ name: String, from start: ReplayCursor.Start, kinds: Set<JournalRecord.Kind>? = nil, isRequired: Bool = true,
    in transaction: inout WriteTransaction
  ) throws(StoreError) -> ReplayCursor {
    guard (1...ReplayCursor.nameLimit).contains(name.utf8.count) else {
      throw StoreError(
        .invalidValue,
        "The name of a replay cursor has \(name.utf8.count) bytes; use from 1 to \(ReplayCursor.nameLimit).")
    }
    let mask = ReplayCursorRow.mask(kinds)
    var row: ReplayCursorRow
    if let existing = try cursors.existingRow(name, in: transaction.reader) {
      row = existing
      guard row.kinds == mask else {
        throw StoreError(
          .invalidOption, "The replay cursor \(name) was made for other kinds of records; remove it to begin anew.")
      }
      let last = try journal.lastSequence(in: transaction.reader)
      guard row.floor <= last else {
        throw StoreError(
          .damaged,
          """
          The replay cursor \(name) is at \(row.floor), but the journal ends at \(last): the store was put together \
          from different copies; remove the cursor, and begin anew.
          """)
      }
      row.isRequired = isRequired
    } else {
      let id = try meta.increment("cursor", in: &transaction)
      row = ReplayCursorRow(
        isRequired: isRequired, kinds: mask, id: id, floor: try floor(of: start, in: transaction.reader),
        createdAt: time.now())
    }
    // Never the same as that of an earlier handle, also of one whose cursor was removed meanwhile.
    row.epoch = try meta.increment("cursorEpoch", in: &transaction)
    try cursors.set(row, of: name, in: &transaction)
    return ReplayCursor(name: name, outbox: self, epoch: row.epoch)
  }

  /// Removes a replay cursor; the journal is not kept for it any more.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - transaction: A write transaction of this store.
  /// - Returns: Whether there was one.
  /// - Throws: As any write.
  @discardableResult
  public func removeReplayCursor(_ name: String, in transaction: inout WriteTransaction) throws(StoreError) -> Bool {
    let row: ReplayCursorRow?
    do throws(StoreError) {
      row = try cursors.existingRow(name, in: transaction.reader)
    } catch  where error.code == .corruptRecord {
      row = nil
    }
    if let row { try cursors.removeAcknowledgements(of: row, upTo: .max, in: &transaction) }
    let key = Array(name.utf8)
    return try transaction.removeValue(forKey: key.span, in: cursors.rows)
  }

  /// Where all replay cursors stand, in the order of their names.
  ///
  /// - Returns: The positions, of one snapshot; costs a step for each record that is done with ahead of a floor.
  /// - Throws: `corruptRecord` if one cannot be read.
  public func replayPositions() throws -> [ReplayPosition] {
    try environment.read { transaction in
      try cursors.allRows(in: transaction).map { name, row in
        var ahead = 0
        var cursor = try transaction.cursor(in: cursors.acknowledgements, over: .prefix(row.id.bigEndianBytes))
        while try cursor.next() { ahead += 1 }
        return ReplayPosition(
          name: name, floor: row.floor, acknowledgedAhead: ahead, isRequired: row.isRequired, missed: row.missed,
          createdAt: row.createdAt)
      }
    }
  }

  /// The last entry up to which every one has left the outbox: the sender's own replay cursor.
  ///
  /// Derived from the entries, so that it cannot disagree with them. Costs one step.
  ///
  /// - Returns: The entry; `nil` if the first is still there, or there has been none.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func settledThrough() throws -> EntryID? {
    try environment.read { transaction in
      var cursor = try transaction.cursor(in: entries)
      let number =
        if try cursor.next() {
          max(1, try EntryID(key: cursor.key, at: 0, of: entries).rawValue) - 1
        } else {
          try highestNumber(in: transaction)
        }
      return number == 0 ? nil : EntryID(rawValue: number)
    }
  }

  /// The floor that a start means.
  func floor(
    of start: ReplayCursor.Start, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> UInt64 {
    let last = try journal.lastSequence(in: transaction)
    let oldest = try journal.firstSequence(in: transaction).map { $0 - 1 } ?? last
    switch start {
    case .start: return oldest
    case .now: return last
    case .at(let number):
      guard number <= last + 1, number > 0 else {
        throw StoreError(
          .invalidValue, "A replay cursor cannot begin at the record \(number): the journal ends at \(last).")
      }
      guard number > oldest else {
        throw StoreError(
          .cursorOverrun, "A replay cursor cannot begin at the record \(number): the oldest kept is \(oldest + 1).")
      }
      return number - 1
    }
  }
}
