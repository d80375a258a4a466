public import LMDB

extension StateStore {
  /// A page of the keys of a type that have a field, in the order of their ids.
  ///
  /// Exactly the keys of which ``merged(_:)`` of the key alone is not empty: also those that only the ``session`` or a
  /// request in flight has given fields, and none whose time is over or whose fields a request in flight removes. A
  /// record that cannot be read is listed, so that reading it says so and ``remove(_:in:)`` can have it.
  ///
  /// ```swift
  /// var page = try store.state.keys(ofType: "draft")
  /// while let last = page.last {
  ///   for fields in try store.state.merged(batch: page.map { [$0] }) { print(fields["title"] ?? "") }
  ///   page = try store.state.keys(ofType: "draft", after: last)
  /// }
  /// ```
  ///
  /// Each page is of one snapshot, and holds it only while it is read: to go through many records pins nothing. What
  /// comes or goes between two pages is in the later one or not; no key comes twice, and none that stays is left out.
  ///
  /// The order is that of the bytes in UTF-8. Of keys beyond 510 bytes it is that of the first 495 bytes of `type:id`,
  /// and by a hash where these are the same. Costs a step and a checksum for each record, also for those that are left
  /// out, a read for each that requests in flight have changed, and a look at every record of the session.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The last key of the page before, whether or not it is still there.
  ///   - limit: How many at most.
  /// - Returns: The keys; none if there are no more.
  /// - Throws: As ``keys(ofType:after:limit:in:)-(_,_,_,ReadTransaction)``.
  public func keys(ofType type: String, after key: StateKey? = nil, limit: Int = 1000) throws -> [StateKey] {
    try environment.read { transaction in try keys(ofType: type, after: key, limit: limit, in: transaction) }
  }

  /// A page of the keys of a type that have a field, in a snapshot; see ``keys(ofType:after:limit:)``.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The last key of the page before, whether or not it is still there.
  ///   - limit: How many at most.
  ///   - transaction: The snapshot to read.
  /// - Returns: The keys; none if there are no more.
  /// - Throws: `invalidKey` for a type that no key can have, or a `key` of another type; `corruptRecord` if a record is
  ///   unreadable whose key is beyond 510 bytes and lost with it.
  public func keys(
    ofType type: String, after key: StateKey? = nil, limit: Int = 1000, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [StateKey] {
    try StateKey.check(type: type)
    let start = try key.map { key throws(StoreError) in try key.storedBytes(toListAfter: type) }
    var range = KeyRange.prefix(StateKey.storedPrefix(ofType: type))
    if let start { range.lower = .excluded(start) }
    let now = time.now()
    var keys: [StateKey] = []
    var cursor = try transaction.cursor(in: rows.records, over: range)
    while keys.count < limit, try cursor.next() {
      let key = try rows.key(stored: cursor.key, record: cursor.value)
      guard key.type.hasSameBytes(as: type) else { continue }
      do throws(Malformed) {
        try RecordHeader.check(cursor.value, of: key)
      } catch {
        if key.form == .plain {
          keys.append(key)
          continue
        }
        throw key.unreadable(error)
      }
      let hasFields =
        if RecordHeader.isLayered(cursor.value) {
          try layeredRecord(key, at: now, in: transaction)?.fields.isEmpty == false
        } else {
          !StateExpiry.isOver(RecordHeader.expiresAt(cursor.value), at: now)
        }
      if hasFields { keys.append(key) }
    }
    // The first of both together are among the first of each.
    let more = session.keys(ofType: type, at: now)
    if more.isEmpty { return keys }
    let all = Set(keys).union(more).map { (key: $0, stored: $0.storedBytes) }
      .filter { start?.lexicographicallyPrecedes($0.stored) ?? true }
      .sorted { $0.stored.lexicographicallyPrecedes($1.stored) }
    return all.prefix(max(0, limit)).map(\.key)
  }

  /// A page of the keys of a type that have a field, as they are in a write: with the changes made so far.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The last key of the page before, whether or not it is still there.
  ///   - limit: How many at most.
  ///   - transaction: The write transaction to read in, such as that of a hook.
  /// - Returns: The keys; none if there are no more.
  /// - Throws: As for a ``keys(ofType:after:limit:in:)-(_,_,_,ReadTransaction)``.
  public func keys(
    ofType type: String, after key: StateKey? = nil, limit: Int = 1000, in transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [StateKey] {
    try keys(ofType: type, after: key, limit: limit, in: transaction.reader)
  }
}

extension StateKey {
  /// Where a list of keys of a type goes on after this one.
  fileprivate func storedBytes(toListAfter type: String) throws(StoreError) -> [UInt8] {
    try check()
    guard self.type.hasSameBytes(as: type) else {
      throw StoreError(
        .invalidKey,
        "The keys of a type cannot be listed after \"\(excerpt)\", which is of another; give the last key of the page before."
      )
    }
    return storedBytes
  }
}
