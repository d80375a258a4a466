import LMDB

/// The requests that must reach a server, however long the network or the app is gone.
///
/// An entry whose transaction has committed is attempted at least once, in order within its lane, until the server has
/// it or refuses it for good. All its attempts carry one idempotency key and the same bytes, so that a server which
/// recognises the key does the work exactly once. <doc:Delivery> says what is promised, and what is not.
///
/// Thread-safe. Any process that has the store open may enqueue; one at a time drains.
public struct Outbox: Sendable {
  static let databases = [
    "outbox.entry", "outbox.state", "outbox.due", "outbox.lane", "outbox.key", "outbox.expiry", "outbox.run",
    "outbox.dead", "outbox.attachment", "outbox.gate", "outbox.pause", "outbox.log", "outbox.cursor",
    "outbox.ack", "outbox.meta",
  ]

  let environment: Environment
  let time: SystemTime
  let folder: AttachmentFolder
  /// Shared by all stores of this path in this process.
  let board: Board
  let keySource = IdempotencyKeySource()
  var wakeUp: WakeUp { board.wakeUp }
  /// Told what happens through this copy of the outbox.
  var observer: (@Sendable (OutboxEvent) -> Void)?
  /// Entry number → the part of the entry that never changes.
  let entries: Database
  /// Entry number → ``DeliveryState``.
  let states: Database
  /// ``DueKey`` → nothing. Only heads of lanes that wait are here, so that a blocked entry costs nothing.
  let due: Database
  /// Name of the lane, entry number → nothing. The first of a lane is its head.
  let lanes: Database
  /// Hash of queue and key, entry number → nothing.
  let keys: Database
  /// Time on the scale of ages, entry number → nothing.
  let expiries: Database
  /// Epoch → the numbers of the entries in flight; epoch, entry number → nothing, for an entry that is held.
  let running: Database
  /// Entry number → ``DeadEntry``.
  let dead: Database
  /// Attachment id → entry number.
  let attachments: Database
  /// Kind and name of a closed gate → ``Gate``.
  let gates: Database
  /// Kind and name of what is paused → its name.
  let pauses: Database
  /// Everything that happens, in order.
  let journal: Journal
  /// Who follows the journal, and how far.
  let cursors: ReplayCursorTable
  let meta: MetaTable
  let metaRows: Database
  /// What the user sees of entries in flight.
  let layers: OptimisticLayers

  init(_ environment: Environment, time: SystemTime) throws(StoreError) {
    self.environment = environment
    self.time = time
    board = Board.shared(forPath: environment.path)
    folder = AttachmentFolder(path: "\(environment.path)/attachments")
    entries = try environment.database("outbox.entry")
    states = try environment.database("outbox.state")
    due = try environment.database("outbox.due")
    lanes = try environment.database("outbox.lane")
    keys = try environment.database("outbox.key")
    expiries = try environment.database("outbox.expiry")
    running = try environment.database("outbox.run")
    dead = try environment.database("outbox.dead")
    attachments = try environment.database("outbox.attachment")
    gates = try environment.database("outbox.gate")
    pauses = try environment.database("outbox.pause")
    journal = Journal(rows: try environment.database("outbox.log"))
    cursors = ReplayCursorTable(
      rows: try environment.database("outbox.cursor"), acknowledgements: try environment.database("outbox.ack"))
    metaRows = try environment.database("outbox.meta")
    meta = MetaTable(metaRows)
    layers = try OptimisticLayers(environment)
  }

  /// Writes down what has happened, and tells this process once it is committed.
  func note(
    _ kind: JournalRecord.Kind, _ id: EntryID, attempt: UInt16 = 0, reason: String = "", isNew: Bool = false,
    _ event: OutboxEvent? = nil, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    try journal.append(
      kind, id, attempt: attempt, reason: reason, isNew: isNew, at: clock.anchor.wall, in: &transaction)
    guard let event else { return }
    transaction.afterCommit { [board, observer] in Self.tell(event, board, observer) }
  }

  static func tell(_ event: OutboxEvent, _ board: Board, _ observer: (@Sendable (OutboxEvent) -> Void)?) {
    board.hub.publish(event)
    observer?(event)
  }
}
