import LMDB

extension Outbox {
  /// Figures that tell how the outbox is doing.
  public struct Metrics: Sendable, Hashable {
    /// Entries that are not settled.
    public var pending: Int
    /// Entries that wait for nothing but their time, their gate and their turn: heads of lanes that are not paused
    /// themselves. Those of a queue, a host or credentials that are paused are among them.
    public var offered: Int
    /// Scopes that are paused; ``Outbox/pausedScopes()`` names them.
    public var pauses: Int
    /// Attempts that are being made, or were when the last drain ended.
    public var inFlight: Int
    /// Entries that are set aside.
    public var held: Int
    /// Entries that were given up.
    public var dead: Int
    /// Files that belong to entries.
    public var attachments: Int
    /// Gates that are closed or being tried.
    public var closedGates: Int
    /// Records of the journal that are kept.
    public var journalRecords: Int
    /// When the oldest entry that is not settled was made, in milliseconds since 1970; `nil` if there is none, or it
    /// cannot be read.
    public var oldestCreatedAt: Int64?

    /// Makes figures, to compare with.
    ///
    /// - Parameters:
    ///   - pending: Entries that are not settled.
    ///   - offered: Entries that may go out.
    ///   - pauses: Scopes that are paused.
    ///   - inFlight: Attempts that are being made.
    ///   - held: Entries that are set aside.
    ///   - dead: Entries that were given up.
    ///   - attachments: Files that belong to entries.
    ///   - closedGates: Gates that are closed.
    ///   - journalRecords: Records of the journal.
    ///   - oldestCreatedAt: When the oldest entry was made, in milliseconds since 1970.
    public init(
      pending: Int = 0, offered: Int = 0, pauses: Int = 0, inFlight: Int = 0, held: Int = 0, dead: Int = 0,
      attachments: Int = 0, closedGates: Int = 0, journalRecords: Int = 0, oldestCreatedAt: Int64? = nil
    ) {
      self.pending = pending
      self.offered = offered
      self.pauses = pauses
      self.inFlight = inFlight
      self.held = held
      self.dead = dead
      self.attachments = attachments
      self.closedGates = closedGates
      self.journalRecords = journalRecords
      self.oldestCreatedAt = oldestCreatedAt
    }
  }

  /// How the outbox is doing.
  ///
  /// Costs a few reads, and one for each entry in flight or held, whatever else waits.
  ///
  /// - Returns: The figures, of one snapshot.
  /// - Throws: `damaged` or `io` if the file cannot be read.
  public func metrics() throws -> Metrics {
    try environment.read { transaction in
      var metrics = Metrics(
        pending: try transaction.count(of: states), offered: try transaction.count(of: due),
        pauses: try transaction.count(of: pauses), dead: try transaction.count(of: dead),
        attachments: try transaction.count(of: attachments),
        closedGates: try transaction.count(of: gates), journalRecords: try transaction.count(of: journal.rows))
      for id in try claimed(in: transaction).rows.flatMap(\.ids) {
        switch try readableState(of: id, in: transaction)?.phase {
        case .inFlight: metrics.inFlight += 1
        case .held: metrics.held += 1
        case .waiting, nil: break
        }
      }
      var oldest = try transaction.cursor(in: entries)
      if try oldest.next() {
        let id = try EntryID(key: oldest.key, at: 0, of: entries)
        metrics.oldestCreatedAt = try readableEntry(id, in: transaction)?.createdAt
      }
      return metrics
    }
  }
}
