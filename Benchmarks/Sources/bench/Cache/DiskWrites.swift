import Harness
import Holdfast
import Peers

/// Replacing values of 4, 20 and 100 KB, each in a commit, without a flush.
func diskSets(_ bench: Bench, _ folder: WorkFolder) throws {
  for (label, width, bar) in [("4 KB", 4096, 5), ("20 KB", 20_000, 7), ("100 KB", 102_400, 6)]
    as [(String, Int, Double)]
  {
    let count = bench.choose(64 << 20, quick: 8 << 20) / width
    let rivals = try DiskRivals(in: folder.folder(label), count: count)
    let values = ValueBlock(min(count, 256), width: width)
    let arrays = DiskRivals.arrays(values)
    try rivals.fill(values)
    let operations = min(bench.choose(100, quick: 20), count / 2)
    let bars: [PeerBlobs.Design: Double] = [.lmdb: 0.9, .yycache: bar, .sqlite: bar, .sqliteLargePages: bar]
    // Wall time, since what files and pages cost is paid in the kernel, which also works for others meanwhile.
    try bench.compare(
      .waiting("disk set, \(label)", .processCrashSafe, operations: operations),
      [
        Contender("Holdfast") { slice in
          for index in slice.range(in: count) {
            try rivals.cache.setValue(arrays[(index + slice.round) % arrays.count], forKey: rivals.names[index])
          }
          return 0
        }
      ]
        + rivals.peers.map { peer in
          Contender(peer.design.name, bar: bars[peer.design]) { slice in
            for index in slice.range(in: count) {
              try peer.set(
                rivals.keys, index..<index + 1, values, from: (index + slice.round) % values.count)
            }
            return 0
          }
        })
  }
}

/// YYCache's own workload: 1,000 keys, written, replaced, read at random, asked for in vain.
func thousandOperations(_ bench: Bench, _ folder: WorkFolder) throws {
  let (count, keys) = bench.choose((1000, "1,000"), quick: (100, "100"))
  for (label, width) in [("140 B", 140), ("100 KB", 102_400)] {
    let rivals = try DiskRivals(in: folder.folder(label), count: count, [.yycache, .sqlite, .files])
    let values = ValueBlock(count, width: width)
    let arrays = DiskRivals.arrays(values)
    let missing = DiskRivals.missing(count)
    func compare(
      _ name: String, ours: @escaping (DiskCache) throws -> UInt64, theirs: @escaping (PeerBlobs) throws -> UInt64
    ) throws {
      var workload = Workload.waiting("\(keys) keys of \(label), \(name)", .processCrashSafe, operations: count)
      // What is read is the same, and of missing keys nothing.
      workload.comparesSums = true
      workload.roundLimit = name == "written" ? bench.choose(12, quick: 7) : bench.choose(27, quick: 9)
      try bench.compare(
        workload,
        [
          Contender("Holdfast") { _ in try ours(rivals.cache) }
        ]
          + rivals.peers.map { peer in
            Contender(peer.design.name) { _ in try theirs(peer) }
          })
    }
    let store = { (cache: DiskCache) in
      for (index, name) in rivals.names.enumerated() { try cache.setValue(arrays[index], forKey: name) }
    }
    let storeInPeer = { (peer: PeerBlobs) in try peer.set(rivals.keys, 0..<count, values, from: 0) }
    try compare("written and removed") { cache in
      try store(cache)
      for name in rivals.names { try cache.removeObject(forKey: name) }
      return 0
    } theirs: { peer in
      try storeInPeer(peer)
      try peer.remove(rivals.keys, 0..<count)
      return 0
    }
    try store(rivals.cache)
    for peer in rivals.peers { try storeInPeer(peer) }
    try compare("replaced") { cache in
      try store(cache)
      return 0
    } theirs: { peer in
      try storeInPeer(peer)
      return 0
    }
    func sum(_ cache: DiskCache, _ names: [String]) throws -> UInt64 {
      var sum: UInt64 = 0
      for name in names {
        if let value = try cache.value(forKey: name) { sum &+= value.span.touched }
      }
      return sum
    }
    var random = Random(seed: 62)
    let order = (0..<count).shuffled(using: &random)
    let (shuffledNames, shuffled) = (rivals.names(of: order), rivals.keys.picking(order))
    try compare("read at random") { cache in
      try sum(cache, shuffledNames)
    } theirs: { peer in
      try peer.get(shuffled, 0..<count)
    }
    try compare("missing") { cache in
      try sum(cache, missing.names)
    } theirs: { peer in
      try peer.get(missing.keys, 0..<count)
    }
  }
}

extension DiskRivals {
  /// Keys that nobody has.
  static func missing(_ count: Int) -> (names: [String], keys: KeyBlock) {
    let names = (0..<count).map { "nothing:\(10_000_000 + $0)" }
    return (names, KeyBlock(texts: names))
  }
}
