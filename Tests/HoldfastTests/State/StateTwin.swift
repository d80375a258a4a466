@testable import Holdfast

/// What a store should hold and answer, made of dictionaries and loops.
struct StateTwin {
  struct Record {
    var fields: [FieldName: FieldValue] = [:]
    var expiresAt: Int64 = 0
    var updatedAt: Int64 = 0
    var stamp = 0
  }

  struct Layer {
    let entry: UInt64
    let key: StateKey
    var changes: [FieldName: FieldValue?]
    let stamp: Int
    let policy: OptimisticPolicy
  }

  /// A name, compared by its bytes.
  struct FieldName: Hashable {
    let bytes: [UInt8]

    init(_ name: String) { bytes = Array(name.utf8) }
  }

  var records: [StateKey: Record] = [:]
  var session: [StateKey: Record] = [:]
  var layers: [Layer] = []
  var stamp = 0
  private var tick = 0
  var now: Int64 = 1_000_000

  // MARK: Changing

  mutating func apply(_ change: StateModel.Change) {
    switch change {
    case .update(let key, let changes, let expiry): update(key, Self.names(changes), expiry)
    case .replace(let key, let fields, let expiry):
      let had = records[key] != nil
      if !had && fields.isEmpty { return }
      let old = live(records[key])
      stamp += 1
      let end = expiry.date(after: old?.expiresAt ?? 0, at: now)
      records[key] =
        fields.isEmpty ? nil : Record(fields: Self.map(fields), expiresAt: end, updatedAt: now, stamp: stamp)
    case .remove(let key):
      if live(records[key]) != nil { stamp += 1 }
      records[key] = nil
    case .removeFields(let names, let key):
      update(key, Dictionary(uniqueKeysWithValues: names.map { (FieldName($0), nil) }), .unchanged)
    case .removeType(let type):
      let doomed = records.filter { $0.key.type == type }
      if doomed.contains(where: { live($0.value) != nil }) { stamp += 1 }
      for key in doomed.keys { records[key] = nil }
    case .removeEverything:
      if !records.isEmpty || !layers.isEmpty { stamp += 1 }
      records = [:]
    case .addLayer(let entry, let changes, let policy):
      for (key, changes) in changes.sorted(by: { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }) {
        if changes.isEmpty { continue }
        stamp += 1
        layers.append(Layer(entry: entry, key: key, changes: Self.names(changes), stamp: stamp, policy: policy))
      }
    case .end(let entry, let isDelivered):
      for layer in layers.filter({ $0.entry == entry }) { end(layer, isDelivered) }
    case .purge:
      for (key, record) in records where live(record) == nil {
        stamp += 1
        records[key] = nil
      }
      session = session.filter { live($0.value) != nil }
    case .purgeOlder(let age, let type):
      for (key, record) in records where record.updatedAt < now - age && (type == nil || key.type == type) {
        stamp += 1
        records[key] = nil
      }
    case .purgeKeeping(let count, let type):
      let all = records.filter { $0.key.type == type && live($0.value) != nil }.sorted {
        $0.value.stamp > $1.value.stamp
      }
      for (key, _) in all.dropFirst(count) {
        stamp += 1
        records[key] = nil
      }
    }
  }

  private mutating func update(_ key: StateKey, _ changes: [FieldName: FieldValue?], _ expiry: StateExpiry) {
    let exists = records[key] != nil || layers.contains { $0.key == key }
    var record = live(records[key]) ?? Record()
    Self.apply(changes, to: &record.fields)
    if !exists && record.fields.isEmpty { return }
    stamp += 1
    record.expiresAt = expiry.date(after: record.expiresAt, at: now)
    record.updatedAt = now
    record.stamp = stamp
    records[key] = record.fields.isEmpty ? nil : record
  }

  private mutating func end(_ layer: Layer, _ isDelivered: Bool) {
    layers.removeAll { $0.entry == layer.entry && $0.key == layer.key }
    guard isDelivered && layer.policy == .fold else {
      stamp += 1
      return
    }
    for index in layers.indices where layers[index].key == layer.key && layers[index].entry < layer.entry {
      for name in layer.changes.keys { layers[index].changes.removeValue(forKey: name) }
    }
    layers.removeAll { $0.changes.isEmpty }
    var record = live(records[layer.key]) ?? Record()
    Self.apply(layer.changes, to: &record.fields)
    record.stamp = max(record.stamp, layer.stamp)
    record.updatedAt = now
    records[layer.key] = record.fields.isEmpty ? nil : record
  }

  mutating func apply(_ change: StateModel.SessionChange) {
    tick += 1
    switch change {
    case .update(let key, let changes, let expiry):
      var record = live(session[key]) ?? Record()
      Self.apply(Self.names(changes), to: &record.fields)
      record.expiresAt = expiry.date(after: record.expiresAt, at: now)
      record.stamp = tick
      session[key] = record.fields.isEmpty ? nil : record
    case .replace(let key, let fields):
      session[key] = fields.isEmpty ? nil : Record(fields: Self.map(fields), stamp: tick)
    case .remove(let key): session[key] = nil
    case .removeType(let type): session = session.filter { $0.key.type != type }
    }
  }

  // MARK: Reading

  func merged(_ keys: [StateKey]) -> [FieldName: FieldValue] {
    keys.reduce(into: [:]) { all, key in
      all.merge(durable(key)) { $1 }
      all.merge(live(session[key])?.fields ?? [:]) { $1 }
    }
  }

  func merged(ids: [String]) -> [FieldName: FieldValue] {
    ids.reduce(into: [:]) { all, id in
      let keys = Set(records.keys).union(layers.map(\.key)).filter { $0.id.utf8.elementsEqual(id.utf8) }
      for key in keys.sorted(by: { recency($0) < recency($1) }) { all.merge(durable(key)) { $1 } }
      let more = session.filter { $0.key.id.utf8.elementsEqual(id.utf8) }.sorted { $0.value.stamp < $1.value.stamp }
      for (_, record) in more { all.merge(live(record)?.fields ?? [:]) { $1 } }
    }
  }

  private func recency(_ key: StateKey) -> Int {
    max(live(records[key])?.stamp ?? 0, layers.filter { $0.key == key }.map(\.stamp).max() ?? 0)
  }

  private func durable(_ key: StateKey) -> [FieldName: FieldValue] {
    var fields = live(records[key])?.fields ?? [:]
    for layer in layers.sorted(by: { $0.entry < $1.entry }) where layer.key == key {
      Self.apply(layer.changes, to: &fields)
    }
    return fields
  }

  private func live(_ record: Record?) -> Record? {
    guard let record, record.expiresAt == 0 || record.expiresAt > now else { return nil }
    return record
  }

  private static func apply(_ changes: [FieldName: FieldValue?], to fields: inout [FieldName: FieldValue]) {
    for (name, value) in changes { fields[name] = value }
  }

  static func map(_ fields: FieldMap) -> [FieldName: FieldValue] {
    Dictionary(uniqueKeysWithValues: fields.map { (FieldName($0.name), $0.value) })
  }

  private static func names(_ changes: FieldChanges) -> [FieldName: FieldValue?] {
    var names = Dictionary(
      uniqueKeysWithValues: changes.values.map { (FieldName($0.name), FieldValue?.some($0.value)) })
    for name in changes.removals { names[FieldName(name)] = .some(nil) }
    return names
  }
}
