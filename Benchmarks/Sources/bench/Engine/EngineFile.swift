import Foundation
import Harness
import LMDB
import Peers

/// Opening a store and reading one record of it, warm.
func openWorkload(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(1_000_000, quick: 100_000)
  let keys = KeyBlock(0..<count)
  let values = ValueBlock(count, width: 100)
  let engines: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb]
  let path = try folder.path(of: "holdfast")
  do {
    let store = try HoldfastStore(at: path, .powerLossSafe)
    try store.put(keys, 0..<count, values, from: 0, perCommit: count)
  }
  for engine in engines {
    let peer = try Peer(engine, at: folder.path(of: engine.rawValue), .powerLossSafe, records: count)
    try peer.put(keys, 0..<count, values, from: 0, perCommit: count)
    try peer.settle()
  }
  var times: [Double] = []
  let ours = Contender("Holdfast") { slice in
    let begin = Clock.wall.now
    let store = try HoldfastStore(at: path, .powerLossSafe)
    let sum = try store.get(keys, slice.round..<slice.round + 1)
    times.append(Double(Clock.wall.now - begin) / 1e6)
    return sum
  }
  let peers = try engines.map { engine in
    let path = try folder.path(of: engine.rawValue)
    return Contender(engine.name, bar: engine == .rocksdb ? 10 : nil) { slice in
      let peer = try Peer(engine, at: path, .powerLossSafe, records: count)
      return try Reader(peer).get(keys, slice.round..<slice.round + 1)
    }
  }
  var workload = Workload.waiting(
    "open, first get, close", .powerLossSafe, operations: 1, comparesSums: true)
  workload.unit = .nanoseconds
  try bench.compare(workload, [ours] + peers)
  bench.add("open and first get", .powerLossSafe, sample: times, limit: 0.5, unit: "ms")
}

/// What a store that was filled in random order takes on the disk once it is compacted.
func compactedSize(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(1_000_000, quick: 100_000)
  var random = Random(seed: 12)
  let keys = KeyBlock((0..<count).shuffled(using: &random))
  let payload = Double(count * 116)
  let store = try HoldfastStore(at: folder.path(of: "holdfast"), .processCrashSafe)
  try store.put(keys, 0..<count, ValueBlock(count, width: 100), from: 0, perCommit: 1000)
  try store.environment.compact()
  let compacted = Double(WorkFolder.diskBytes(store.path)) / payload
  bench.add("file bytes a payload byte, compacted", .processCrashSafe, sample: [compacted], limit: 1.12, unit: "B/B")
}
