/// The records of a session, found by key and by id. A plain value.
struct SessionTable {
  private struct ID: Hashable {
    let bytes: [UInt8]
  }

  private var records: [StateKey: StateRecord] = [:]
  private var keysOfIDs: [ID: Set<StateKey>] = [:]
  private var lastStamp: UInt64 = 0

  var count: Int { records.count }

  func record(_ key: StateKey) -> StateRecord? { records[key] }

  /// Keeps a record as the one updated last; a vacant one is removed.
  mutating func set(_ record: StateRecord, of key: StateKey) {
    let id = ID(bytes: Array(key.idBytes))
    guard !record.isVacant else {
      if records.removeValue(forKey: key) == nil { return }
      keysOfIDs[id]?.remove(key)
      if keysOfIDs[id]?.isEmpty == true { keysOfIDs[id] = nil }
      return
    }
    lastStamp += 1
    var record = record
    record.stamp = lastStamp
    if records.updateValue(record, forKey: key) == nil { keysOfIDs[id, default: []].insert(key) }
  }

  mutating func removeAll(where isDoomed: (StateKey) -> Bool) {
    for key in records.keys.filter(isDoomed) { set(StateRecord(), of: key) }
  }

  mutating func removeExpired(at now: Int64) {
    for (key, record) in records where StateExpiry.isOver(record.expiresAt, at: now) { set(StateRecord(), of: key) }
  }

  /// The keys of a type whose time is not over, in no particular order.
  func keys(ofType type: String, at now: Int64) -> [StateKey] {
    records.filter { $0.key.type.hasSameBytes(as: type) && !StateExpiry.isOver($0.value.expiresAt, at: now) }.map(\.key)
  }

  /// The keys of any type with an id, oldest update first.
  func keys(ofID id: String) -> [StateKey] {
    let keys = keysOfIDs[ID(bytes: Array(id.utf8))] ?? []
    return keys.sorted { (records[$0]?.stamp ?? 0) < (records[$1]?.stamp ?? 0) }
  }
}
