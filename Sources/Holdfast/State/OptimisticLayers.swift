import LMDB

/// What becomes of optimistic changes when their request is delivered.
public enum OptimisticPolicy: Sendable, Hashable {
  /// They go into the records: the server has taken them as they are.
  case fold
  /// They are dropped: ``OutboxHooks/onCommit`` stores what the server has answered, in the same transaction.
  case drop
}

/// What requests in flight have promised: fields that lie over a record until the request is settled.
///
/// A layer belongs to one entry of the outbox and one key, and reads as record, then layers in the order of their
/// entries. One that is dropped leaves nothing behind. Folding one into its record never changes what is seen: its
/// fields are taken out of the layers below, which they have covered for good. So layers can be settled in any order.
/// ```
/// 1, hash of the key, u64 entry → u8 1 = drop on delivery, u16 length of the key, its bytes,
///                                 u64 stamp, a field table of what is set, one whose names are removed
/// 2, u64 entry, hash of the key → nothing
/// ```
/// A record with layers has a flag, so that reading one without costs nothing. It may have no fields then.
final class OptimisticLayers: Sendable {
  /// One layer.
  struct Layer {
    var entry: UInt64
    var key: StateKey
    var stamp: UInt64
    var policy: OptimisticPolicy
    var changes: FieldChanges
  }

  let rows: StateRows
  let layers: Database

  init(_ environment: Environment) throws(StoreError) {
    rows = try StateRows(environment)
    layers = try environment.database("state.layer")
  }

  /// Lays fields over records, for as long as an entry is in flight.
  func add(
    _ changes: [StateKey: FieldChanges], for entry: UInt64, _ policy: OptimisticPolicy,
    in transaction: inout WriteTransaction
  ) throws(StoreError) {
    if changes.isEmpty { return }
    // In a fixed order, so that the same program gives the same stamps.
    let sorted = changes.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
    for (key, changes) in sorted where !changes.names.isEmpty {
      try key.checkDurable()
      let old = try rows.record(key, in: transaction.reader)
      try checkRoom(for: changes, in: old?.fields ?? [:], of: key)
      let stamp = try rows.log.append(key, fields: changes.names, in: &transaction)
      let layer = Layer(
        entry: entry, key: key, stamp: stamp, policy: policy, changes: changes)
      try transaction.set(layer.encoded(), forKey: layerKey(key, entry), in: layers)
      try transaction.set([], forKey: entryKey(entry, key), in: layers)
      guard old?.isLayered != true else { continue }
      var record = old ?? StateRecord()
      record.isLayered = true
      try rows.set(record, of: key, replacing: old, in: &transaction)
    }
  }

  /// Refuses changes that could never be folded, while whoever makes them can still do something else.
  private func checkRoom(for changes: FieldChanges, in fields: FieldMap, of key: StateKey) throws(StoreError) {
    guard fields.count + changes.values.count > FieldTable.countLimit else { return }
    var fields = fields
    changes.apply(to: &fields)
    guard fields.count > FieldTable.countLimit else { return }
    throw StoreError(
      .invalidValue,
      "The optimistic changes would leave the state record \(key) with \(fields.count) fields; use at most "
        + "\(FieldTable.countLimit).")
  }

  /// Settles the layers of an entry: those of one that was delivered go into the records, unless their policy is to
  /// drop them, the others are taken back.
  func end(
    _ entry: UInt64, isDelivered: Bool, at now: Int64, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    if try transaction.reader.count(of: layers) == 0 { return }
    for row in try rows(ofEntry: entry, in: transaction.reader) {
      do throws(StoreError) {
        let layer = try layer(ofRow: row, entry, in: transaction.reader)
        if isDelivered && layer.policy == .fold {
          try fold(layer, at: now, in: &transaction)
        } else {
          try drop(layer, in: &transaction)
        }
      } catch  where error.code == .corruptRecord && !isDelivered {
        // What cannot be read can be taken back all the same.
        try transaction.remove(layerKey(ofRow: row, entry), in: layers)
        try transaction.remove(row, in: layers)
      }
    }
  }

  private func fold(_ layer: Layer, at now: Int64, in transaction: inout WriteTransaction) throws(StoreError) {
    let old = try rows.record(layer.key, in: transaction.reader)
    var rest = try layers(over: layer.key, in: transaction.reader).filter { $0.entry != layer.entry }
    for index in rest.indices where rest[index].entry < layer.entry {
      rest[index].changes.forget(layer.changes.names)
      try set(rest[index], in: &transaction)
    }
    rest.removeAll { $0.changes.isEmpty }
    var record = old ?? StateRecord()
    record.expire(at: now)
    layer.changes.apply(to: &record.fields)
    if record.fields.isEmpty { record.expiresAt = 0 }
    record.stamp = record.fields.isEmpty ? 0 : max(record.stamp, layer.stamp)
    record.updatedAt = now
    record.isLayered = !rest.isEmpty
    try remove(layer, in: &transaction)
    do throws(StoreError) {
      try rows.set(record, of: layer.key, replacing: old, in: &transaction)
    } catch  where error.code == .invalidValue {
      throw StoreError(
        .invalidValue,
        "The optimistic changes of the outbox entry \(layer.entry) have no room in the state record \(layer.key): "
          + "\(error.message) Remove fields from it.")
    }
  }

  private func drop(_ layer: Layer, in transaction: inout WriteTransaction) throws(StoreError) {
    try remove(layer, in: &transaction)
    try rows.log.append(layer.key, fields: layer.changes.names, in: &transaction)
    guard try !exist(over: layer.key, in: transaction.reader) else { return }
    let old: StateRecord
    do throws(StoreError) {
      guard let found = try rows.record(layer.key, in: transaction.reader) else { return }
      old = found
    } catch  where error.code == .corruptRecord {
      // Nothing of it is needed to take something back; whoever removes it learns from the rows that no layer is left.
      return
    }
    var record = old
    record.isLayered = false
    try rows.set(record, of: layer.key, replacing: old, in: &transaction)
  }

  /// Stores a layer that has changed; one that sets and removes nothing any more goes.
  private func set(_ layer: Layer, in transaction: inout WriteTransaction) throws(StoreError) {
    if layer.changes.isEmpty { return try remove(layer, in: &transaction) }
    try transaction.set(layer.encoded(), forKey: layerKey(layer.key, layer.entry), in: layers)
  }

  private func remove(_ layer: Layer, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.remove(layerKey(layer.key, layer.entry), in: layers)
    try transaction.remove(entryKey(layer.entry, layer.key), in: layers)
  }
}
