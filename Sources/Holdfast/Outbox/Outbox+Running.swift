import LMDB

/// What has been claimed and is not settled, so that the next drain finds it whatever else waits.
///
/// What a drain has in flight is one row of its epoch, which is written anew in each turn that changes it: a row for each
/// entry would be two changes of a tree in its life. What is held has a row of its own, of epoch and entry.
extension Outbox {
  /// A row of `outbox.run`.
  struct Claimed {
    var key: [UInt8]
    var epoch: UInt64
    var ids: [EntryID]
    /// Whether it is the row of what an epoch has in flight.
    var isList: Bool { key.count == 8 }

    /// `nil` for a row that is damaged, which names nothing.
    init?(_ key: Span<UInt8>, _ value: Span<UInt8>) {
      guard key.count == 8 || key.count == 16, let epoch = try? key.loadBigEndian(UInt64.self, at: 0) else {
        return nil
      }
      self.key = [UInt8](copying: key)
      self.epoch = epoch
      if key.count == 16 {
        ids = EntryID(indexKey: self.key).map { [$0] } ?? []
      } else {
        ids = (0..<value.count / 8).compactMap { value.littleEndian(UInt64.self, at: 8 * $0) }.map(
          EntryID.init(rawValue:))
      }
    }
  }

  /// Writes down all that a drain has in flight.
  func setInFlight(
    _ ids: [EntryID], epoch: UInt64, in transaction: inout WriteTransaction
  ) throws(StoreError) {
    let key = ShortBytes(bigEndian: epoch)
    if ids.isEmpty { return try transaction.remove(key, in: running) }
    var row = ByteWriter(capacity: 8 * ids.count)
    for id in ids { row.append(id.rawValue) }
    try transaction.set(row.bytes, forKey: key, in: running)
  }

  /// All that is in flight or held, and the keys of rows that are damaged.
  func claimed(in transaction: borrowing ReadTransaction) throws(StoreError) -> (rows: [Claimed], damaged: [[UInt8]]) {
    var rows: [Claimed] = []
    var damaged: [[UInt8]] = []
    var cursor = try transaction.cursor(in: running)
    while try cursor.next() {
      if let row = Claimed(cursor.key, cursor.value) {
        rows.append(row)
      } else {
        damaged.append([UInt8](copying: cursor.key))
      }
    }
    return (rows, damaged)
  }
}
