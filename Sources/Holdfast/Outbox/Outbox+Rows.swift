import LMDB

/// The keys and rows of the outbox's databases.
extension Outbox {
  func laneKey(_ lane: String, _ id: EntryID) -> [UInt8] { SipHash.hash128(lane.utf8) + id.key }

  func dueKey(_ time: Int64, _ id: EntryID) -> [UInt8] { UInt64(max(0, time)).bigEndianBytes + id.key }

  func runKey(_ epoch: UInt64, _ id: EntryID) -> [UInt8] { epoch.bigEndianBytes + id.key }

  /// The first unsettled entry of a lane. Two lanes with one hash would merely wait for each other.
  func head(ofLane lane: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> EntryID? {
    var cursor = try transaction.cursor(in: lanes, over: .prefix(SipHash.hash128(lane.utf8)))
    guard try cursor.next() else { return nil }
    return try EntryID(key: cursor.key, at: 16, of: lanes)
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
