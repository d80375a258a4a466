public import LMDB

/// The requests that must reach a server, however long the network or the app is gone.
///
/// An entry whose transaction has committed is attempted at least once, in order within its lane, until the server has
/// it or refuses it for good. All its attempts carry one idempotency key and the same bytes, so that a server which
/// recognises the key does the work exactly once.
///
/// Thread-safe. Any process that has the store open may enqueue; one at a time drains.
public struct Outbox: Sendable {
  static let databases = [
    "outbox.entry", "outbox.state", "outbox.due", "outbox.lane", "outbox.run", "outbox.dead", "outbox.attachment",
    "outbox.log", "outbox.cursor", "outbox.ack", "outbox.meta",
  ]

  let environment: Environment
  let time: SystemTime
  let folder: AttachmentFolder
  /// Wakes the drain of this process.
  let wakeUp = WakeUp()
  /// Entry number → the part of the entry that never changes.
  let entries: Database
  /// Entry number → ``DeliveryState``.
  let states: Database
  /// Time, entry number → nothing. Only heads of lanes are here, so that a blocked entry costs nothing.
  let due: Database
  /// Hash of the lane, entry number → nothing. The first of a lane is its head.
  let lanes: Database
  /// Epoch, entry number → nothing: what has been claimed and is not settled, in flight or held.
  let running: Database
  /// Entry number → ``DeadEntry``.
  let dead: Database
  /// Attachment id → entry number.
  let attachments: Database
  /// Everything that happens, in order.
  let journal: Journal
  /// Who follows the journal, and how far.
  let cursors: ReplayCursorTable
  let meta: MetaTable
  /// What the user sees of entries in flight.
  let layers: OptimisticLayers

  init(_ environment: Environment, time: SystemTime) throws(StoreError) {
    self.environment = environment
    self.time = time
    folder = AttachmentFolder(path: "\(environment.path)/attachments")
    entries = try environment.database("outbox.entry")
    states = try environment.database("outbox.state")
    due = try environment.database("outbox.due")
    lanes = try environment.database("outbox.lane")
    running = try environment.database("outbox.run")
    dead = try environment.database("outbox.dead")
    attachments = try environment.database("outbox.attachment")
    journal = Journal(rows: try environment.database("outbox.log"))
    cursors = ReplayCursorTable(
      rows: try environment.database("outbox.cursor"), acknowledgements: try environment.database("outbox.ack"))
    meta = MetaTable(try environment.database("outbox.meta"))
    layers = try OptimisticLayers(environment)
  }

  /// Writes a file that a request will carry, before the transaction that enqueues it.
  ///
  /// Blocks until the file is on the device. It is removed again unless a request that has it is committed.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - name: The name to send, such as `cat.png`.
  ///   - mediaType: Its media type, such as `image/png`.
  /// - Returns: What goes into ``OutboxRequest/attachments``.
  /// - Throws: `diskFull`, `accessDenied` or `io` if the file cannot be written.
  public func stage(_ bytes: [UInt8], name: String, mediaType: String) throws(StoreError) -> StagedAttachment {
    try folder.stage(bytes.span, name: name, mediaType: mediaType)
  }

  /// Adds a request, inside the caller's transaction: it is on its way if and only if that transaction commits.
  ///
  /// Costs seven writes in the tree.
  ///
  /// - Parameters:
  ///   - request: What to deliver.
  ///   - transaction: A write transaction of this store.
  /// - Returns: The number of the entry.
  /// - Throws: `invalidValue` for an empty kind or too large a payload.
  @discardableResult
  public func enqueue(
    _ request: OutboxRequest, in transaction: inout WriteTransaction
  ) throws(StoreError) -> EntryID {
    try check(request)
    for attachment in request.attachments { try claim(attachment, in: transaction.reader) }
    let now = time.now()
    let id = EntryID(rawValue: try meta.increment("sequence", in: &transaction))
    let entry = OutboxEntry(
      id: id, kind: request.kind, lane: request.lane, payload: request.payload,
      attachments: request.attachments.map(\.attachment), host: request.host, credentials: request.credentials,
      idempotencyKey: IdempotencyKey(), createdAt: now)
    let isHead = try head(ofLane: entry.lane, in: transaction.reader) == nil
    try transaction.set(entry.encoded(), forKey: id.key, in: entries)
    try set(DeliveryState(notBefore: now), of: id, in: &transaction)
    try transaction.set([], forKey: laneKey(entry.lane, id), in: lanes)
    if isHead { try transaction.set([], forKey: dueKey(now, id), in: due) }
    for attachment in request.attachments {
      try transaction.set(id.key, forKey: attachment.id.bytes, in: attachments)
    }
    try layers.add(request.optimistic, for: id.rawValue, request.optimisticPolicy, in: &transaction)
    try journal.append(.enqueued, id, at: now, in: &transaction)
    transaction.afterCommit { [wakeUp, staged = request.attachments] in
      for attachment in staged { attachment.commit() }
      wakeUp.signal()
    }
    return id
  }

  /// A file leaves with the entry that has it, so it can belong to one only.
  private func claim(
    _ attachment: StagedAttachment, in transaction: borrowing ReadTransaction
  ) throws(StoreError) {
    let id = attachment.id.bytes
    let isTaken = try transaction.value(forKey: id.span, in: attachments) != nil
    if isTaken || attachment.wasCommitted {
      throw StoreError(
        .invalidValue, "The attachment \(attachment.name) belongs to another request; stage the file once more.")
    }
  }

  private func check(_ request: OutboxRequest) throws(StoreError) {
    if request.kind.isEmpty {
      throw StoreError(.invalidValue, "A request needs a kind, by which its sender knows what to do; name it.")
    }
    let names = [request.kind, request.lane, request.host ?? "", request.credentials ?? ""]
    if names.contains(where: { $0.utf8.count > OutboxRequest.nameLimit }) {
      throw StoreError(
        .invalidValue,
        "A kind, lane or other name is over \(OutboxRequest.nameLimit) bytes; use a short name, or a hash.")
    }
    if request.payload.count > OutboxRequest.payloadLimit {
      throw StoreError(
        .invalidValue,
        """
        A payload of \(request.payload.count) bytes is over the limit of \(OutboxRequest.payloadLimit); stage large \
        parts as attachments.
        """)
    }
    if let foreign = request.attachments.first(where: { $0.folder.path != folder.path }) {
      throw StoreError(
        .invalidValue, "The attachment \(foreign.name) was staged in another store; stage it in this one.")
    }
  }
}
