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

  /// Whether there are layers over a key, readable or not.
  func exist(over key: StateKey, in transaction: borrowing ReadTransaction) throws(StoreError) -> Bool {
    var cursor = try transaction.cursor(in: layers, over: .prefix([1] + key.hash))
    return try cursor.next()
  }

  /// The keys of the rows that lead to the layers of an entry.
  func rows(ofEntry entry: UInt64, in transaction: borrowing ReadTransaction) throws(StoreError) -> [[UInt8]] {
    try transaction.keys(of: .prefix([2] + entry.bigEndianBytes), in: layers, limit: .max)
  }

  /// The layer that a row of its entry leads to.
  func layer(
    ofRow row: [UInt8], _ entry: UInt64, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Layer {
    let key = layerKey(ofRow: row, entry)
    guard let value = try transaction.value(forKey: key.span, in: layers) else {
      throw damaged(entry, "some are gone")
    }
    let layer = try layer(key.span, value)
    guard layerKey(layer.key, entry) == key else { throw damaged(entry, "they claim another key") }
    return layer
  }

  /// The keys that have layers.
  func keys(in transaction: borrowing ReadTransaction) throws(StoreError) -> Set<StateKey> {
    var found: Set<StateKey> = []
    var cursor = try transaction.cursor(in: layers, over: .prefix([1]))
    while try cursor.next() { found.insert(try layer(cursor.key, cursor.value).key) }
    return found
  }

  func layerKey(_ key: StateKey, _ entry: UInt64) -> [UInt8] { [1] + key.hash + entry.bigEndianBytes }

  /// The key of the layer that a row of its entry leads to.
  func layerKey(ofRow row: [UInt8], _ entry: UInt64) -> [UInt8] { [1] + row.dropFirst(9) + entry.bigEndianBytes }

  func entryKey(_ entry: UInt64, _ key: StateKey) -> [UInt8] { [2] + entry.bigEndianBytes + key.hash }

  func layer(_ row: Span<UInt8>, _ value: Span<UInt8>) throws(StoreError) -> Layer {
    do throws(Malformed) {
      return try Layer(decoding: value, entry: row.loadBigEndian(UInt64.self, at: 17))
    } catch {
      throw damaged(try? row.loadBigEndian(UInt64.self, at: 17), error.reason)
    }
  }

  private func damaged(_ entry: UInt64?, _ reason: String) -> StoreError {
    guard let entry else {
      return StoreError(
        .corruptRecord, "A row of \(layers.name) cannot be read: \(reason); restore a copy of the store.")
    }
    return StoreError(
      .corruptRecord,
      "The optimistic changes of the outbox entry \(entry) cannot be read: \(reason); cancel it, others are not affected."
    )
  }
}

extension OptimisticLayers.Layer {
  func encoded() throws(StoreError) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt8(policy == .drop ? 1 : 0))
    writer.append(UInt16(key.text.utf8.count))
    writer.append(text: key.text)
    writer.append(stamp)
    do throws(StoreError) {
      try FieldTable.append(["removed": .map(changes.removed), "set": .map(changes.values)], to: &writer)
    } catch {
      throw key.naming(error)
    }
    try StateRecord.check(writer.count, of: key)
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
