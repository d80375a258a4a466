import LMDB

/// The merged fields of lists of keys that were read lately, good until the next commit of any process.
///
/// A result belongs to the commit whose snapshot it was read from, and to a version of the session. A reader that finds
/// the newest commit to have the same number may use it: no tree is walked, and no lock taken that a writer holds.
/// Each list may be in a few places, by its hash, of a fixed number of them. A newcomer takes one that is empty, outdated
/// or has not been used since the last newcomer that found none.
final class StateMemo: Sendable {
  /// The most lists that are kept, whose places are there from the beginning.
  private static let listLimit = 1 << 20
  /// The most bytes of records in one result that is kept.
  private static let byteLimit = 16 << 10

  private final class Entry: Sendable {
    let keys: [StateKey]
    let merge: Merge
    let sessionVersion: UInt64

    init(keys: [StateKey], merge: Merge, sessionVersion: UInt64) {
      self.keys = keys
      self.merge = merge
      self.sessionVersion = sessionVersion
    }

    func isGood(_ transactionID: Int, _ sessionVersion: UInt64) -> Bool {
      merge.transactionID == transactionID && self.sessionVersion == sessionVersion
    }
  }

  private struct Place {
    var hash: UInt64 = 0
    var entry: Entry?
    var isUsed = false
  }

  /// Readers of different lists seldom meet at a lock.
  private let shards: [Monitor<[Place]>]
  /// In how many places a list may be.
  private let ways: Int
  private let setsPerShard: Int

  init(limit: Int) {
    let limit = min(limit, Self.listLimit)
    let ways = min(8, limit)
    let shardCount = min(16, limit / ways)
    let setsPerShard = limit / ways / shardCount
    shards = (0..<shardCount).map { _ in Monitor([Place](repeating: Place(), count: setsPerShard * ways)) }
    self.ways = ways
    self.setsPerShard = setsPerShard
  }

  /// The fields of a list, if they were read from that commit and none of them has expired since.
  func merge(
    of keys: [StateKey], at transactionID: Int, _ sessionVersion: UInt64, _ now: () -> Int64
  ) -> Merge? {
    let (shard, first, hash) = set(of: keys)
    // What the lock protects is one reference; the rest never changes.
    var known: Entry?
    shards[shard].update { places in
      var place = first
      while places[place].hash != hash {
        place += 1
        if place == first + ways { return }
      }
      known = places[place].entry
      places[place].isUsed = true
    }
    guard let known, known.isGood(transactionID, sessionVersion), known.keys == keys else { return nil }
    return known.merge.times.isEmpty || known.merge.times.contains(now()) ? known.merge : nil
  }

  /// Keeps the fields of a list.
  func keep(_ merge: Merge, of keys: [StateKey], _ sessionVersion: UInt64) {
    if merge.byteCount > Self.byteLimit { return }
    let (shard, first, hash) = set(of: keys)
    let entry = Entry(keys: keys, merge: merge, sessionVersion: sessionVersion)
    shards[shard].update { places in
      let set = first..<first + ways
      let place =
        set.first { places[$0].hash == hash }
        ?? set.first { !(places[$0].entry?.isGood(merge.transactionID, sessionVersion) ?? false) }
        ?? set.first { !places[$0].isUsed }
      if let place {
        // As one that was used, or the next newcomer would take the same place, before this list is asked for again.
        places[place] = Place(hash: hash, entry: entry, isUsed: true)
      } else {
        for place in set { places[place].isUsed = false }
      }
    }
  }

  private func set(of keys: [StateKey]) -> (shard: Int, first: Int, hash: UInt64) {
    var hash: UInt64 = 0
    for key in keys { hash = (hash << 29 | hash >> 35 ^ key.digest) &* 0x9E37_79B9_7F4A_7C15 }
    let bits = hash >> 16
    let shard = bits % UInt64(shards.count)
    return (Int(shard), Int(bits / UInt64(shards.count) % UInt64(setsPerShard)) * ways, hash)
  }
}
