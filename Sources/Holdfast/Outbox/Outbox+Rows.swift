import LMDB

/// The keys and rows of the outbox's databases.
extension Outbox {
  /// Not a hash, as for keys, so that entries of lanes that are called alike are near to each other: 256 of them in one
  /// transaction then change a few pages, and not one each.
  private func lanePrefix(_ lane: String) -> ShortBytes {
    var prefix = ShortBytes()
    lane.withBytes { name in
      // No text has these bytes, so that no lane's rows can run into another's.
      if name.count <= 47 {
        prefix.append(name)
        prefix.append(0xFF as UInt8)
      } else {
        prefix.append(name.extracting(first: 31))
        prefix.append(0xFE as UInt8)
        prefix.append(SipHash.hash128(name))
      }
    }
    return prefix
  }

  func laneKey(_ lane: String, _ id: EntryID) -> ShortBytes { lanePrefix(lane).followed(by: id) }

  func keyKey(_ queue: String, _ key: String, _ id: EntryID) -> ShortBytes { keyPrefix(queue, key).followed(by: id) }

  func expiryKey(_ state: DeliveryState, _ id: EntryID) -> ShortBytes {
    ShortBytes(bigEndian: UInt64(clamping: state.expiresAt)).followed(by: id)
  }

  func runKey(_ epoch: UInt64, _ id: EntryID) -> ShortBytes { ShortBytes(bigEndian: epoch).followed(by: id) }

  private func keyPrefix(_ queue: String, _ key: String) -> ShortBytes {
    // No text has this byte, so that the two cannot run into each other.
    let bytes = Array(queue.utf8) + [0xFF] + Array(key.utf8)
    return SipHash.hash128(bytes.span)
  }

  /// The first unsettled entry of a lane. Two long names with one hash would merely wait for each other.
  func head(ofLane lane: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> EntryID? {
    let start = lanePrefix(lane)
    guard let key = try transaction.key(atOrAfter: start, in: lanes), start.isPrefix(of: key) else { return nil }
    if key.count == start.count + 8 { return try EntryID(key: key, at: start.count, of: lanes) }
    // A key of another length is damaged, and names nothing; behind it may be others.
    var cursor = try transaction.cursor(in: lanes, over: .prefix(start.array))
    while try cursor.next() {
      if cursor.key.count == start.count + 8 { return try EntryID(key: cursor.key, at: start.count, of: lanes) }
    }
    return nil
  }

  /// As above, near what the transaction has changed.
  func head(ofLane lane: String, in transaction: borrowing WriteTransaction) throws(StoreError) -> EntryID? {
    let start = lanePrefix(lane)
    guard let key = try transaction.key(atOrAfter: start, in: lanes), start.isPrefix(of: key) else { return nil }
    if key.count == start.count + 8 { return try EntryID(key: key, at: start.count, of: lanes) }
    return try head(ofLane: lane, in: transaction.reader)
  }

  /// Whether an entry whose row in its lane has just been stored, and goes to its end, is alone there.
  func isFirst(
    _ key: ShortBytes, _ id: EntryID, ofLane lane: String, in transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Bool {
    guard let previous = try transaction.key(before: key, in: lanes), key.startsAlike(previous, key.count - 8) else {
      return true
    }
    // A key of another length is damaged, and names nothing.
    if previous.count == key.count { return false }
    return try isHead(id, ofLane: lane, in: transaction)
  }

  /// Whether no older entry of the lane is left.
  func isHead(
    _ id: EntryID, ofLane lane: String, in transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Bool {
    try head(ofLane: lane, in: transaction).map { $0 >= id } ?? true
  }

  /// The unsettled entries of a lane, in order.
  func ids(ofLane lane: String, in transaction: borrowing ReadTransaction) throws(StoreError) -> [EntryID] {
    try ids(withPrefix: lanePrefix(lane), of: lanes, in: transaction) { $0.lane == lane }
  }

  /// The unsettled entries of a key, in order.
  func ids(
    ofKey key: String, queue: String, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [EntryID] {
    try ids(withPrefix: keyPrefix(queue, key), of: keys, in: transaction) { $0.key == key && $0.queue == queue }
  }

  /// The entries that an index names, and that are not there for the hash alone.
  private func ids(
    withPrefix prefix: ShortBytes, of index: Database, in transaction: borrowing ReadTransaction,
    where isMeant: (OutboxEntry) -> Bool
  ) throws(StoreError) -> [EntryID] {
    var found: [EntryID] = []
    var cursor = try transaction.cursor(in: index, over: .prefix(prefix.array))
    while try cursor.next() {
      guard cursor.key.count == prefix.count + 8 else { continue }
      let id = try EntryID(key: cursor.key, at: prefix.count, of: index)
      if let entry = try readableEntry(id, in: transaction), isMeant(entry) { found.append(id) }
    }
    return found
  }

  func state(of id: EntryID, in transaction: borrowing ReadTransaction) throws(StoreError) -> DeliveryState? {
    guard let bytes = try transaction.value(forKey: id.key, in: states) else { return nil }
    return try state(of: id, bytes)
  }

  private func state(of id: EntryID, _ bytes: Span<UInt8>) throws(StoreError) -> DeliveryState {
    do throws(Malformed) {
      return try DeliveryState(decoding: bytes)
    } catch {
      throw StoreError(
        .corruptRecord, "The state of the outbox entry \(id) cannot be read: \(error.reason); restore a copy.")
    }
  }

  func set(_ state: DeliveryState, of id: EntryID, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.set(state.head, followedBy: state.tail, forKey: id.key, in: states)
  }

  func entry(_ id: EntryID, in transaction: borrowing ReadTransaction) throws(StoreError) -> OutboxEntry? {
    guard let bytes = try transaction.value(forKey: id.key, in: entries) else { return nil }
    return try OutboxEntry(decoding: bytes, id: id, attachmentsIn: folder)
  }

  /// As above, near what the transaction has looked at.
  func entry(_ id: EntryID, in transaction: borrowing WriteTransaction) throws(StoreError) -> OutboxEntry? {
    guard let bytes = try transaction.value(forKey: id.key, in: entries) else { return nil }
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

  /// As above, near what the transaction has changed.
  func readableState(
    of id: EntryID, in transaction: borrowing WriteTransaction
  ) throws(StoreError) -> DeliveryState? {
    guard let bytes = try transaction.value(forKey: id.key, in: states) else { return nil }
    do throws(StoreError) {
      return try state(of: id, bytes)
    } catch  where error.code == .corruptRecord {
      return nil
    }
  }

  /// Puts a waiting entry among those that may go out, if it is the head of its lane and that is not paused.
  func offer(
    _ id: EntryID, _ state: DeliveryState, lane: String, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard state.phase == .waiting, try isHead(id, ofLane: lane, in: transaction) else { return }
    try offerHead(id, state, lane: lane, in: &transaction)
  }

  /// Puts the waiting head of a lane among those that may go out, if the lane is not paused.
  func offerHead(
    _ id: EntryID, _ state: DeliveryState, lane: String, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    if try isPaused(.lane(lane), in: transaction.reader) { return }
    try transaction.insert(DueKey(state, id).bytes, in: due)
  }
}

extension EntryID {
  /// The number, so that keys sort by it.
  var key: ShortBytes { ShortBytes(bigEndian: rawValue) }

  /// The second number of a key of two: what an index names. `nil` for a key that is damaged, which names nothing.
  init?(indexKey key: [UInt8]) {
    guard key.count == 16 else { return nil }
    self.init(endOf: key)
  }

  /// The number at the end of a key that begins with a name or its hash.
  init?(endOf key: [UInt8]) {
    guard key.count > 8 else { return nil }
    rawValue = key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  init(key: Span<UInt8>, at offset: Int, of database: Database) throws(StoreError) {
    do throws(Malformed) {
      rawValue = try key.loadBigEndian(UInt64.self, at: offset)
    } catch {
      throw StoreError(.corruptRecord, "A key of \(database.name) is too short; restore a copy of the store.")
    }
  }
}

extension ShortBytes {
  /// What is followed by the number of an entry in the key of an index.
  fileprivate func followed(by id: EntryID) -> ShortBytes {
    var key = self
    key.append(bigEndian: id.rawValue)
    return key
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

  /// Stores a row under a key that is in place.
  @_lifetime(self: copy self)
  mutating func set(_ value: [UInt8], forKey key: ShortBytes, in database: Database) throws(StoreError) {
    try set(value.span, forKey: key, in: database)
  }

  /// Stores a row of a fixed part and a text.
  @_lifetime(self: copy self)
  mutating func set(
    _ head: ShortBytes, followedBy text: String, forKey key: ShortBytes, in database: Database
  ) throws(StoreError) {
    if text.isEmpty { return try set(head, forKey: key, in: database) }
    var writer = ByteWriter(capacity: head.count + text.utf8.count)
    writer.append(head)
    writer.append(text: text)
    try set(writer.bytes.span, forKey: key, in: database)
  }

  /// Stores a row that is nothing but its key.
  @_lifetime(self: copy self)
  mutating func insert(_ key: ShortBytes, in database: Database) throws(StoreError) {
    try set(ShortBytes(), forKey: key, in: database)
  }

  /// Removes a row whose key is in place.
  @_lifetime(self: copy self)
  mutating func remove(_ key: ShortBytes, in database: Database) throws(StoreError) {
    try removeValue(forKey: key, in: database)
  }

  /// Removes a row whose key was made on the spot.
  @_lifetime(self: copy self)
  mutating func remove(_ key: [UInt8], in database: Database) throws(StoreError) {
    try removeValue(forKey: key.span, in: database)
  }
}
