public import LMDB

extension Outbox {
  /// Adds a request, inside the caller's transaction: it is on its way if and only if that transaction commits.
  ///
  /// Costs five writes in the tree, one less behind others of its lane, and one more each for a key and a maximal age.
  ///
  /// - Parameters:
  ///   - request: What to deliver.
  ///   - transaction: A write transaction of this store.
  /// - Returns: The number of the entry; with ``ConflictPolicy/keep``, that of the one which was there.
  /// - Throws: `invalidValue` for an empty kind, too large a payload, a ``ConflictPolicy`` without a key, or optimistic
  ///   changes that have no room in their record; `outboxFull` if the file has come so near to its
  ///   limit that what is there could not be settled any more.
  @discardableResult
  public func enqueue(
    _ request: OutboxRequest, in transaction: inout WriteTransaction
  ) throws(StoreError) -> EntryID {
    try check(request)
    for attachment in request.attachments { try claim(attachment, in: transaction.reader) }
    let clock = try startedClock(in: &transaction)
    let rivals = try rivals(of: request, in: transaction.reader)
    if request.conflict == .keep, let rival = rivals.first { return rival }
    try environment.checkHeadroom(in: transaction, or: .outboxFull)
    let id = try nextID(in: transaction)
    if request.conflict == .replace {
      for rival in rivals { try supersede(rival, by: id, at: clock, in: &transaction) }
    }
    let entry = OutboxEntry(
      request, id: id, attachments: request.attachments.map(\.attachment), idempotencyKey: keySource.next(),
      createdAt: clock.anchor.wall)
    var state = DeliveryState(notBefore: clock.time + request.delay.milliseconds)
    if let age = request.maxAge { state.expiresAt = max(1, clock.age + age.milliseconds) }
    try insert(entry, &state, in: &transaction)
    for attachment in request.attachments {
      try transaction.set(id.key.array, forKey: attachment.id.bytes, in: attachments)
    }
    try layers.add(request.optimistic, for: id.rawValue, request.optimisticPolicy, in: &transaction)
    try note(.enqueued, id, isNew: true, at: clock, in: &transaction)
    transaction.afterCommit { [board, observer, staged = request.attachments] in
      for attachment in staged { attachment.commit() }
      Self.tell(.enqueued(id), board, observer)
      board.wakeUp.signal()
    }
    return id
  }

  /// Writes the rows of an entry that is new in its lane; it goes to the end.
  func insert(
    _ entry: OutboxEntry, _ state: inout DeliveryState, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    state.route = entry.route.number
    state.priority = entry.priority
    state.recovery = entry.recovery
    let row = try entry.encoded()
    guard try transaction.insert(row.span, forKey: entry.id.key, in: entries) else {
      throw StoreError(
        .corruptRecord,
        "The outbox has an entry \(entry.id), of which its journal does not know; run `Outbox.verify(repair: true)`.")
    }
    try set(state, of: entry.id, in: &transaction)
    let place = laneKey(entry.lane, entry.id)
    try transaction.insert(place, in: lanes)
    let isHead = try isFirst(place, entry.id, ofLane: entry.lane, in: transaction)
    if let key = entry.key { try transaction.insert(keyKey(entry.queue, key, entry.id), in: keys) }
    if state.expiresAt != 0 { try transaction.insert(expiryKey(state, entry.id), in: expiries) }
    if isHead { try offerHead(entry.id, state, lane: entry.lane, in: &transaction) }
  }

  /// The entries of the request's key that are not settled, the oldest first.
  private func rivals(
    of request: OutboxRequest, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [EntryID] {
    guard let key = request.key, request.conflict != .append else { return [] }
    return try ids(ofKey: key, queue: request.queue, in: transaction)
  }

  /// Takes an entry out in favour of a newer one, unless it may have been sent.
  private func supersede(
    _ id: EntryID, by newer: EntryID, at clock: OutboxClock, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let state = try readableState(of: id, in: transaction.reader), state.phase == .waiting, state.attempts == 0,
      let entry = try readableEntry(id, in: transaction.reader)
    else { return }
    try end(entry, state, as: .superseded(by: newer), at: clock, in: &transaction)
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

  private func check(_ name: String?, _ what: String) throws(StoreError) {
    let limit = OutboxRequest.nameLimit
    if let name, name.utf8.count > limit {
      throw StoreError(
        .invalidValue,
        "The \(what) \"\(name.prefix(80))…\" of a request is over \(limit) bytes; use a short name, or a hash.")
    }
  }

  private func check(_ request: OutboxRequest) throws(StoreError) {
    if request.kind.isEmpty {
      throw StoreError(.invalidValue, "A request needs a kind, by which its sender knows what to do; name it.")
    }
    try check(request.kind, "kind")
    try check(request.lane, "lane")
    try check(request.queue, "queue")
    try check(request.host, "host")
    try check(request.credentials, "credentials")
    try check(request.key, "key")
    if request.payload.count > OutboxRequest.payloadLimit {
      throw StoreError(
        .invalidValue,
        """
        A payload of \(request.payload.count) bytes is over the limit of \(OutboxRequest.payloadLimit); stage large \
        parts as attachments.
        """)
    }
    if request.conflict != .append && request.key == nil {
      throw StoreError(
        .invalidValue,
        "A request can keep or replace only others of its key, and has none; set its `key`, or leave `conflict` at "
          + "`append`.")
    }
    if let limit = request.maxAttempts, limit < 1 {
      throw StoreError(.invalidValue, "A request that may be attempted \(limit) times is never sent; use 1 or more.")
    }
    if let foreign = request.attachments.first(where: { $0.folder.path != folder.path }) {
      throw StoreError(
        .invalidValue, "The attachment \(foreign.name) was staged in another store; stage it in this one.")
    }
  }
}
