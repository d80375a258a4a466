import LMDB

/// The merged fields of lists of keys that were read lately, good until the next commit of any process.
///
/// A result belongs to the commit whose snapshot it was read from, and to a version of the session. A reader that finds
/// the newest commit to have the same number may use it: no tree is walked, and no lock taken that a writer holds.
/// Each list has one place, by its hash, among a fixed number of them; a newcomer takes it unless the one there has been
/// used since the last newcomer and is still good.
final class StateMemo: Sendable {
  /// The most bytes of records in one result that is kept.
  private static let byteLimit = 16 << 10

  private struct Entry {
    let keys: [StateKey]
    let merge: Merge
    let sessionVersion: UInt64
    var isUsed = false

    func isGood(_ transactionID: Int, _ sessionVersion: UInt64) -> Bool {
      merge.transactionID == transactionID && self.sessionVersion == sessionVersion
    }
  }

  /// Readers of different lists seldom meet at a lock.
  private let shards: [Monitor<[Entry?]>]
  private let placesPerShard: Int

  init(limit: Int) {
    let shardCount = min(16, limit)
    placesPerShard = limit / shardCount
    shards = (0..<shardCount).map { [placesPerShard] _ in
      Monitor([Entry?](repeating: nil, count: placesPerShard))
    }
  }

  /// The fields of a list, if they were read from that commit and none of them has expired.
  func merge(
    of keys: [StateKey], at transactionID: Int, _ sessionVersion: UInt64, _ now: () -> Int64
  ) -> Merge? {
    let (shard, place) = place(of: keys)
    let known = shards[shard].update { entries -> Merge? in
      guard let entry = entries[place], entry.isGood(transactionID, sessionVersion), entry.keys == keys else {
        return nil
      }
      if !entry.isUsed { entries[place]?.isUsed = true }
      return entry.merge
    }
    guard let known, !StateExpiry.isOver(known.expiresAt, at: known.expiresAt == 0 ? 0 : now()) else { return nil }
    return known
  }

  /// Keeps the fields of a list.
  func keep(_ merge: Merge, of keys: [StateKey], _ sessionVersion: UInt64) {
    if merge.byteCount > Self.byteLimit { return }
    let (shard, place) = place(of: keys)
    shards[shard].update { entries in
      if let old = entries[place], old.isUsed, old.isGood(merge.transactionID, sessionVersion), old.keys != keys {
        entries[place]?.isUsed = false
      } else {
        entries[place] = Entry(keys: keys, merge: merge, sessionVersion: sessionVersion)
      }
    }
  }

  private func place(of keys: [StateKey]) -> (shard: Int, place: Int) {
    var hasher = Hasher()
    for key in keys { hasher.combine(key) }
    let hash = UInt(bitPattern: hasher.finalize())
    return (Int(hash % UInt(shards.count)), Int(hash / UInt(shards.count) % UInt(placesPerShard)))
  }
}
