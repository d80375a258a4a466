import LMDB
import Synchronization

/// The part of the state that lives in memory and ends with its `Store`.
///
/// Its records are merged like the others: over the durable record of the same key, while between keys the order of the
/// reader decides. No disk, no transaction, no flush; a change is seen by every read that begins after it. A record adds
/// fields and overrides them; it hides none, so that `nil` in an update brings the durable field back.
///
/// Thread-safe. Another `Store` on the same path, in this or another process, has a session of its own.
public final class SessionState: Sendable {
  private let table = Monitor(SessionTable())
  private let time: SystemTime
  private let onChange: @Sendable () -> Void
  /// How many records there are, so that readers of none take no lock.
  private let count = Atomic(0)
  /// Raised by each change.
  private let changes = Atomic<UInt64>(0)

  init(time: SystemTime, onChange: @escaping @Sendable () -> Void) {
    self.time = time
    self.onChange = onChange
  }

  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }
  var version: UInt64 { changes.load(ordering: .acquiring) }

  /// Merges changes into the record of a key; one that is left without a field is removed.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - changes: The fields to set; `nil` removes.
  ///   - expiry: How long the record lasts from now on.
  /// - Throws: `invalidKey` for a key that no record can have.
  public func update(
    _ key: StateKey, _ changes: FieldChanges, expires expiry: StateExpiry = .unchanged
  ) throws(StoreError) {
    try key.check()
    let now = time.now()
    change { table in
      var record = table.record(key) ?? StateRecord()
      record.update(changes, expiry, at: now)
      table.set(record, of: key)
    }
  }

  /// Sets the record of a key to some fields; others that it had are gone.
  ///
  /// - Parameters:
  ///   - key: The record.
  ///   - fields: All that it has from now on; with none, it is removed.
  ///   - expiry: How long the record lasts from now on.
  /// - Throws: `invalidKey` for a key that no record can have.
  public func replace(
    _ key: StateKey, with fields: FieldMap, expires expiry: StateExpiry = .never
  ) throws(StoreError) {
    try key.check()
    let now = time.now()
    change { table in
      var record = StateRecord()
      record.expiresAt = table.record(key)?.expiresAt ?? 0
      record.update(FieldChanges(fields), expiry, at: now)
      table.set(record, of: key)
    }
  }

  /// Removes the record of a key.
  ///
  /// - Parameter key: The record; that there is none is no error.
  public func remove(_ key: StateKey) {
    change { $0.set(StateRecord(), of: key) }
  }

  /// Removes some fields of a record, and the record with its last field.
  ///
  /// - Parameters:
  ///   - fields: The names; those that the record does not have are skipped.
  ///   - key: The record.
  public func remove(fields: [String], of key: StateKey) {
    change { table in
      guard var record = table.record(key) else { return }
      for name in fields { record.fields[name] = nil }
      table.set(record, of: key)
    }
  }

  /// Removes every record of a type.
  ///
  /// - Parameter type: The type.
  public func removeAll(type: String) {
    change { table in table.removeAll { $0.type.hasSameBytes(as: type) } }
  }

  /// Removes every record.
  public func removeAll() {
    change { table in table.removeAll { _ in true } }
  }

  /// Removes every record about an object, of any type: the object has come to its end.
  ///
  /// - Parameter instance: The object.
  public func end(_ instance: InstanceID) {
    change { table in
      for key in table.keys(ofID: instance.text) where key.isOfInstance { table.set(StateRecord(), of: key) }
    }
  }

  /// Deletes what has expired.
  func purge() {
    if isEmpty { return }
    let now = time.now()
    change { table in table.removeExpired(at: now) }
  }

  /// The fields of each key that has some, and when they expire.
  func fields(of keys: [StateKey], at now: Int64) -> (fields: [FieldMap?], times: StateTimes) {
    table.update { table in
      var times = StateTimes()
      let fields = keys.map { key -> FieldMap? in
        guard let record = table.record(key) else { return nil }
        times.note(record.expiresAt, at: now)
        return StateExpiry.isOver(record.expiresAt, at: now) ? nil : record.fields
      }
      return (fields, times)
    }
  }

  /// The keys of any type with an id, oldest update first.
  func keys(ofID id: String) -> [StateKey] {
    if isEmpty { return [] }
    return table.update { $0.keys(ofID: id) }
  }

  /// The keys of a type whose time is not over, in no particular order.
  func keys(ofType type: String, at now: Int64) -> [StateKey] {
    if isEmpty { return [] }
    return table.update { $0.keys(ofType: type, at: now) }
  }

  private func change(_ body: (inout SessionTable) -> Void) {
    table.update { table in
      body(&table)
      count.store(table.count, ordering: .releasing)
      changes.add(1, ordering: .acquiringAndReleasing)
    }
    onChange()
  }
}
