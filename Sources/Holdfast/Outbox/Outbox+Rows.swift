import LMDB

/// The keys and rows of the outbox's databases.
extension Outbox {
  func laneKey(_ lane: String, _ id: EntryID) -> [UInt8] { SipHash.hash128(lane.utf8) + id.key }

  func keyKey(_ queue: String, _ key: String, _ id: EntryID) -> [UInt8] { keyPrefix(queue, key) + id.key }

  func expiryKey(_ state: DeliveryState, _ id: EntryID) -> [UInt8] {
    UInt64(clamping: state.expiresAt).bigEndianBytes + id.key
  }

  func runKey(_ epoch: UInt64, _ id: EntryID) -> [UInt8] { epoch.bigEndianBytes + id.key }

  private func keyPrefix(_ queue: String, _ key: String) -> [UInt8] {
    // No text has this byte, so that the two cannot run into each other.
    SipHash.hash128(Array(queue.utf8) + [0xFF] + Array(key.utf8))
  }

  /// The first unsettled entry of a lane. Two lanes with one hash would merely wait for each other.
  func head(ofLane lane: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> EntryID? {
    var cursor = try transaction.cursor(in: lanes, over: .prefix(SipHash.hash128(lane.utf8)))
    while try cursor.next() {
      // A key of another length is damaged, and names nothing.
      if cursor.key.count == 24 { return try EntryID(key: cursor.key, at: 16, of: lanes) }
    }
    return nil
  }

  /// Whether no older entry of the lane is left.
  func isHead(
    _ id: EntryID, ofLane lane: String, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    try head(ofLane: lane, in: transaction).map { $0 >= id } ?? true
  }

  /// The unsettled entries of a lane, in order.
  func ids(ofLane lane: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> [EntryID] {
    try ids(withPrefix: SipHash.hash128(lane.utf8), of: lanes, in: transaction) { $0.lane == lane }
  }

  /// The unsettled entries of a key, in order.
  func ids(
    ofKey key: String, queue: String, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [EntryID] {
    try ids(withPrefix: keyPrefix(queue, key), of: keys, in: transaction) { $0.key == key && $0.queue == queue }
  }

  /// The entries that an index names, and that are not there for the hash alone.
  private func ids(
    withPrefix prefix: [UInt8], of index: Database, in transaction: borrowing ReadTransaction,
    where isMeant: (OutboxEntry) -> Bool
  ) throws(StoreError) -> [EntryID] {
    var found: [EntryID] = []
    var cursor = try transaction.cursor(in: index, over: .prefix(prefix))
    while try cursor.next() {
      guard cursor.key.count == 24 else { continue }
      let id = try EntryID(key: cursor.key, at: 16, of: index)
      if let entry = try readableEntry(id, in: transaction), isMeant(entry) { found.append(id) }
    }
    return found
  }

  func state(of id: EntryID, in transaction: borrowing ReadTransaction) throws(StoreError) -> DeliveryState? {
    let key = id.key
    guard let bytes = try transaction.value(forKey: key.span, in: states) else { return nil }
    do throws(Malformed) {
      return try DeliveryState(decoding: bytes)
    } catch {
      throw StoreError(
        .corruptRecord, "The state of the outbox entry \(id) cannot be read: \(error.reason); restore a copy.")
    }
  }

  func set(_ state: DeliveryState, of id: EntryID, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.set(state.encoded, forKey: id.key, in: states)
  }

  func entry(_ id: EntryID, in transaction: borrowing ReadTransaction) throws(StoreError) -> OutboxEntry? {
    let key = id.key
    guard let bytes = try transaction.value(forKey: key.span, in: entries) else { return nil }
    return try OutboxEntry(decoding: bytes, id: id, attachmentsIn: folder)
  }

  /// The entry, or `nil` if it is missing or cannot be read.
  func readableEntry(_ id: EntryID, in transaction: borrowing ReadTransaction) throws(StoreError) -> OutboxEntry? {
    do throws(StoreError) {
      return try entry(id, in: transaction)
    } catch  where error.code == .corruptRecord {
      return nil
    }
  }

  /// The state, or `nil` if it is missing or cannot be read.
  func readableState(
    of id: EntryID, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> DeliveryState? {
    do throws(StoreError) {
      return try state(of: id, in: transaction)
    } catch  where error.code == .corruptRecord {
      return nil
    }
  }

  /// Puts a waiting entry among those that may go out, if it is the head of its lane and that is not paused.
  func offer(
    _ id: EntryID, _ state: DeliveryState, lane: String, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard state.phase == .waiting, try isHead(id, ofLane: lane, in: transaction.reader),
      try !isPaused(.lane(lane), in: transaction.reader)
    else { return }
    try transaction.set([], forKey: DueKey(state, id).bytes, in: due)
  }
}

extension EntryID {
  /// The number, so that keys sort by it.
  var key: [UInt8] { rawValue.bigEndianBytes }

  /// The second number of a key of two: what an index names. `nil` for a key that is damaged, which names nothing.
  init?(indexKey key: [UInt8]) {
    guard key.count == 16 else { return nil }
    rawValue = key[8...].reduce(0) { $0 << 8 | UInt64($1) }
  }

  init(key: Span<UInt8>, at offset: Int, of database: Database) throws(StoreError) {
    do throws(Malformed) {
      rawValue = try key.loadBigEndian(UInt64.self, at: offset)
    } catch {
      throw StoreError(.corruptRecord, "A key of \(database.name) is too short; restore a copy of the store.")
    }
  }
}

extension ReadTransaction {
  /// The first keys of a range, copied.
  func keys(of range: KeyRange, in database: Database, limit: Int) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var cursor = try cursor(in: database, over: range)
    while found.count < limit, try cursor.next() { found.append([UInt8](copying: cursor.key)) }
    return found
  }
}

extension WriteTransaction {
  /// Stores a row under a key, both made on the spot. (A `span` of a temporary in a throwing call crashes swiftc 6.3.1.)
  @_lifetime(self: copy self)
  mutating func set(_ value: [UInt8], forKey key: [UInt8], in database: Database) throws(StoreError) {
    try set(value.span, forKey: key.span, in: database)
  }

  /// Removes a row whose key was made on the spot.
  @_lifetime(self: copy self)
  mutating func remove(_ key: [UInt8], in database: Database) throws(StoreError) {
    try removeValue(forKey: key.span, in: database)
  }
}
