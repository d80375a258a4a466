import LMDB

extension OptimisticLayers {
  /// The layers over a key, in the order of their entries.
  func layers(over key: StateKey, in transaction: borrowing ReadTransaction) throws(StoreError) -> [Layer] {
    var found: [Layer] = []
    var cursor = try transaction.cursor(in: layers, over: .prefix([1] + key.hash))
    while try cursor.next() {
      let layer = try layer(cursor.key, cursor.value)
      // Another key with the same hash is none of ours.
      if layer.key == key { found.append(layer) }
    }
    return found
  }

  /// Whether there are layers over a key.
  func exist(over key: StateKey, in transaction: borrowing ReadTransaction) throws(StoreError) -> Bool {
    try !layers(over: key, in: transaction).isEmpty
  }

  /// The layers of an entry.
  func layers(ofEntry entry: UInt64, in transaction: borrowing ReadTransaction) throws(StoreError) -> [Layer] {
    var found: [Layer] = []
    var cursor = try transaction.cursor(in: layers, over: .prefix([2] + entry.bigEndianBytes))
    while try cursor.next() {
      let hash = [UInt8](copying: cursor.key).dropFirst(9)
      let row = [1] + hash + entry.bigEndianBytes
      guard let value = try transaction.value(forKey: row.span, in: layers) else {
        throw damaged("a layer of the outbox entry \(entry) is gone")
      }
      found.append(try layer(row.span, value))
    }
    return found
  }

  /// The keys that have layers.
  func keys(in transaction: borrowing ReadTransaction) throws(StoreError) -> Set<StateKey> {
    var found: Set<StateKey> = []
    var cursor = try transaction.cursor(in: layers, over: .prefix([1]))
    while try cursor.next() { found.insert(try layer(cursor.key, cursor.value).key) }
    return found
  }

  func layerKey(_ key: StateKey, _ entry: UInt64) -> [UInt8] { [1] + key.hash + entry.bigEndianBytes }

  func entryKey(_ entry: UInt64, _ key: StateKey) -> [UInt8] { [2] + entry.bigEndianBytes + key.hash }

  func layer(_ row: Span<UInt8>, _ value: Span<UInt8>) throws(StoreError) -> Layer {
    do throws(Malformed) {
      return try Layer(decoding: value, entry: row.loadBigEndian(UInt64.self, at: 17))
    } catch {
      throw damaged(error.reason)
    }
  }

  private func damaged(_ reason: String) -> StoreError {
    StoreError(.corruptRecord, "A row of \(layers.name) cannot be read: \(reason); restore a copy of the store.")
  }
}

extension OptimisticLayers.Layer {
  func encoded() throws(StoreError) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt8(policy == .drop ? 1 : 0))
    writer.append(UInt16(key.text.utf8.count))
    writer.append(text: key.text)
    writer.append(stamp)
    let names = FieldMap(
      sorted: changes.removals.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { FieldMap.Field($0, .null) })
    try FieldTable.append(["removed": .map(names), "set": .map(changes.values)], to: &writer)
    return writer.bytes
  }

  init(decoding bytes: Span<UInt8>, entry: UInt64) throws(Malformed) {
    let keyLength = Int(try bytes.load(UInt16.self, at: 1))
    let tableOffset = 3 + keyLength + 8
    let fields = try FieldTable.decode(bytes.slice(tableOffset, bytes.count - tableOffset))
    guard case .map(let set)? = fields["set"], case .map(let removed)? = fields["removed"] else {
      throw Malformed("a layer is incomplete")
    }
    self.entry = entry
    key = StateKey(try bytes.slice(3, keyLength).text())
    stamp = try bytes.load(UInt64.self, at: 3 + keyLength)
    policy = try bytes.load(UInt8.self, at: 0) == 0 ? .fold : .drop
    changes = FieldChanges(set)
    for field in removed { changes[field.name] = nil }
  }
}
