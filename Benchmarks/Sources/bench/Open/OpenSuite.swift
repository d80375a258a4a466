import Foundation
import Harness
import LMDB
import Peers

/// Making a store, opening it with a first read, closing it; with little and with much in it.
func openSuite(_ bench: Bench) throws {
  try bench.withFolder("made") { try madeAnew(bench, $0) }
  for count in bench.choose([10_000, 1_000_000], quick: [1000, 50_000]) {
    try bench.withFolder("open") { try openWorkloads(bench, $0, count: count) }
  }
}

/// The engines that are opened; Holdfast comes before them.
private let engines: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb]

private func madeAnew(_ bench: Bench, _ folder: WorkFolder) throws {
  let keys = KeyBlock(0..<1)
  let values = ValueBlock(1, width: 100)
  let ours = Contender("Holdfast") { slice in
    let store = try HoldfastStore(at: folder.path(of: "holdfast-\(slice.round)"), .powerLossSafe)
    try store.put(keys, 0..<1, values, from: 0, perCommit: 1)
    return 0
  }
  let peers = engines.map { engine in
    Contender(engine.name) { slice in
      let path = try folder.path(of: "\(engine.rawValue)-\(slice.round)")
      let peer = try Peer(engine, at: path, .powerLossSafe, records: 1)
      try peer.put(keys, 0..<1, values, from: 0, perCommit: 1)
      return 0
    }
  }
  try bench.compare(once("make, one put, close"), [ours] + peers)
}

/// One operation a slice, in nanoseconds as they pass.
private func once(_ name: String) -> Workload {
  var workload = Workload.waiting(name, .powerLossSafe, operations: 1).withThreads
  workload.unit = .nanoseconds
  return workload
}

func openWorkloads(_ bench: Bench, _ folder: WorkFolder, count: Int) throws {
  let keys = KeyBlock(0..<count)
  let values = ValueBlock(count, width: 100)
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
  var workload = once("open, first get, close, \(count.named) records")
  workload.comparesSums = true
  try bench.compare(workload, [ours] + peers)
  bench.add("open and first get, \(count.named) records", .powerLossSafe, sample: times, limit: 0.5, unit: "ms")
}

extension Int {
  /// As people say it: 10k, 1M.
  var named: String {
    self >= 1_000_000 && self % 1_000_000 == 0
      ? "\(self / 1_000_000)M" : self >= 1000 && self % 1000 == 0 ? "\(self / 1000)k" : "\(self)"
  }
}
