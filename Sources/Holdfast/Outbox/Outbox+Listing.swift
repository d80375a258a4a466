public import LMDB

/// An entry that waits in the outbox, and how its delivery stands.
public struct PendingEntry: Sendable, Hashable {
  /// What an entry is doing.
  public enum Phase: Sendable, Hashable {
    /// It waits for its lane, or for its time.
    case waiting
    /// It has been claimed by a drain, and may be on its way.
    case inFlight
    /// It is set aside; its lane waits with it.
    case held
  }

  /// The number of the entry.
  public let id: EntryID
  /// The entry, or why it cannot be read.
  public let entry: Result<OutboxEntry, StoreError>
  /// What it is doing.
  public let phase: Phase
  /// How often it may have reached the server; above zero, a repeat is possible.
  public let attempts: Int
  /// The earliest time of its next attempt, in milliseconds since 1970.
  public let notBefore: Int64
  /// Why the last attempt failed; empty if none has.
  public let lastError: String
}

extension Outbox {
  /// How many entries there are.
  public struct Counts: Sendable, Hashable {
    /// Entries that are not settled: waiting, in flight or held.
    public var pending: Int
    /// Entries that were given up.
    public var dead: Int

    /// Makes counts, to compare with.
    ///
    /// - Parameters:
    ///   - pending: Entries that are not settled.
    ///   - dead: Entries that were given up.
    public init(pending: Int = 0, dead: Int = 0) {
      self.pending = pending
      self.dead = dead
    }
  }

  /// How many entries are pending and dead; costs two reads, whatever the number.
  ///
  /// - Returns: The counts, of one snapshot.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func counts() throws -> Counts {
    try environment.read { transaction in
      Counts(pending: try transaction.count(of: states), dead: try transaction.count(of: dead))
    }
  }

  /// One entry that is not settled, and how its delivery stands.
  ///
  /// - Parameter id: The number that ``enqueue(_:in:)`` has returned.
  /// - Returns: The entry as last committed; `nil` if it was delivered, taken back or replaced, or given up: then it is
  ///   ``deadEntry(_:)``. One that cannot be read is returned as such.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func pendingEntry(_ id: EntryID) throws -> PendingEntry? {
    try environment.read { transaction in try pendingEntry(id, in: transaction) }
  }

  /// As ``pendingEntry(_:)``, as a transaction sees it.
  ///
  /// - Parameters:
  ///   - id: The number of the entry.
  ///   - transaction: A transaction of this store; in a write transaction, its `reader`.
  /// - Returns: The entry, or `nil` if it is not among those that wait.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func pendingEntry(
    _ id: EntryID, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> PendingEntry? {
    guard try transaction.value(forKey: id.key, in: states) != nil else { return nil }
    return try pendingEntry(id, at: try clock(in: transaction), in: transaction)
  }

  /// The first entries that are not settled, in the order of their commits.
  ///
  /// - Parameter limit: How many at most; each is copied out of the file.
  /// - Returns: The entries, of one snapshot.
  /// - Throws: `damaged` or `io` if the file cannot be read. An entry that cannot be read is listed as such.
  public func pendingEntries(limit: Int) throws -> [PendingEntry] {
    try environment.read { transaction in
      let clock = try clock(in: transaction)
      var found: [PendingEntry] = []
      var cursor = try transaction.cursor(in: states)
      while found.count < limit, try cursor.next() {
        let id = try EntryID(key: cursor.key, at: 0, of: states)
        found.append(try pendingEntry(id, at: clock, in: transaction))
      }
      return found
    }
  }

  private func pendingEntry(
    _ id: EntryID, at clock: OutboxClock, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> PendingEntry {
    do throws(StoreError) {
      guard let state = try state(of: id, in: transaction), let entry = try entry(id, in: transaction) else {
        throw StoreError(.corruptRecord, "The outbox entry \(id) is gone, but its state is there; it is held.")
      }
      return PendingEntry(id, .success(entry), state, at: clock)
    } catch  where error.code == .corruptRecord {
      var state = DeliveryState(notBefore: 0)
      state.hold(error.message, .unfit)
      return PendingEntry(id, .failure(error), state, at: clock)
    }
  }

  /// One entry that was given up.
  ///
  /// - Parameter id: The number under which it died.
  /// - Returns: The dead letter as last committed; `nil` if there is none of that number: the entry is pending, delivered
  ///   or gone, or the dead letter was requeued or discarded.
  /// - Throws: `corruptRecord` if it is unreadable.
  public func deadEntry(_ id: EntryID) throws -> DeadEntry? {
    try environment.read { transaction in try deadEntry(id, in: transaction) }
  }

  /// As ``deadEntry(_:)``, as a transaction sees it.
  ///
  /// - Parameters:
  ///   - id: The number under which it died.
  ///   - transaction: A transaction of this store; in a write transaction, its `reader`.
  /// - Returns: The dead letter, or `nil` if there is none of that number.
  /// - Throws: `corruptRecord` if it is unreadable.
  public func deadEntry(
    _ id: EntryID, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> DeadEntry? {
    guard let bytes = try transaction.value(forKey: id.key, in: dead) else { return nil }
    return try DeadEntry(decoding: bytes, id: id, attachmentsIn: folder)
  }

  /// The first entries that were given up, in the order of their commits.
  ///
  /// - Parameter limit: How many at most; each is copied out of the file.
  /// - Returns: The entries, of one snapshot.
  /// - Throws: `corruptRecord` if an entry is unreadable.
  public func deadEntries(limit: Int) throws -> [DeadEntry] {
    try environment.read { transaction in
      var found: [DeadEntry] = []
      var cursor = try transaction.cursor(in: dead)
      while found.count < limit, try cursor.next() {
        let id = try EntryID(key: cursor.key, at: 0, of: dead)
        found.append(try DeadEntry(decoding: cursor.value, id: id, attachmentsIn: folder))
      }
      return found
    }
  }
}

extension PendingEntry {
  /// Makes an entry that is in no outbox, so that what shows it can be tested.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - phase: What it is doing.
  ///   - attempts: How often it may have reached the server.
  ///   - notBefore: The earliest time of its next attempt, in milliseconds since 1970.
  ///   - lastError: Why the last attempt failed; empty if none has.
  public init(
    _ entry: OutboxEntry, phase: Phase = .waiting, attempts: Int = 0, notBefore: Int64 = 0, lastError: String = ""
  ) {
    id = entry.id
    self.entry = .success(entry)
    self.phase = phase
    self.attempts = attempts
    self.notBefore = notBefore
    self.lastError = lastError
  }

  init(
    _ id: EntryID, _ entry: Result<OutboxEntry, StoreError>, _ state: DeliveryState, at clock: OutboxClock
  ) {
    self.id = id
    self.entry = entry
    phase =
      switch state.phase {
      case .waiting: .waiting
      case .inFlight: .inFlight
      case .held: .held
      }
    attempts = Int(state.attempts)
    notBefore = clock.wall(of: state.notBefore)
    lastError = state.lastError
  }
}
