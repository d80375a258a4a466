import Foundation
import Harness
import LMDB
import Peers
import Synchronization

/// Durable writes of many callers: each in a commit of its own, and together.
func groupCommitWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = 100_000
  var random = Random(seed: 9)
  let keys = KeyBlock((0..<count).shuffled(using: &random))
  let values = ValueBlock(count, width: 100)
  let store = try HoldfastStore(at: folder.path(of: "holdfast"), .powerLossSafe)
  let direct = try HoldfastStore(at: folder.path(of: "direct"), .powerLossSafe)
  let raw = try Peer(.lmdb, at: folder.path(of: "lmdb"), .powerLossSafe, records: count)
  for store in [store, direct] { try store.put(keys, 0..<count, values, from: 0, perCommit: 10_000) }
  try raw.put(keys, 0..<count, values, from: 0, perCommit: 10_000)

  try sixtyFourTasks(bench, store, direct, keys, values)
  try alone(bench, store, direct, keys, values)
  try manyWriters(bench, store, raw, folder, keys, values)
}

private func sixtyFourTasks(
  _ bench: Bench, _ store: HoldfastStore, _ direct: HoldfastStore, _ keys: KeyBlock, _ values: ValueBlock
) throws {
  let tasks = 64
  let each = bench.choose(20, quick: 6)
  var commits = 0
  let together = Contender("Holdfast") { slice in
    let before = try store.environment.info().lastTransactionID
    let latencies = Mutex(Histogram())
    _ = try inTasks(tasks) { task in
      var mine = Histogram()
      for turn in 0..<each {
        let place = (task * each + turn) % keys.count
        let begin = Clock.wall.now
        try await store.putInGroup(keys, place, values, place)
        mine.record(Clock.wall.now - begin)
      }
      latencies.withLock { [mine] in $0.merge(mine) }
      return 0
    }
    slice.latencies = latencies.withLock { $0 }
    commits += try store.environment.info().lastTransactionID - before
    return 0
  }
  var rounds = 0
  let apart = Contender("Holdfast, each alone", bar: 10, tailBar: 1) { slice in
    rounds += 1
    let latencies = Mutex(Histogram())
    _ = try onThreads(tasks) { task in
      var mine = Histogram()
      for turn in 0..<each {
        let place = (task * each + turn) % keys.count
        let begin = Clock.wall.now
        try direct.put(keys, place..<place + 1, values, from: place, perCommit: 1)
        mine.record(Clock.wall.now - begin)
      }
      latencies.withLock { [mine] in $0.merge(mine) }
      return 0
    }
    slice.latencies = latencies.withLock { $0 }
    return 0
  }
  try bench.compare(
    Workload.waiting("group commit, 64 tasks", .powerLossSafe, operations: tasks * each).withThreads,
    [together, apart])
  let group = Double(rounds * tasks * each) / Double(max(1, commits))
  bench.add(
    "group commit, 64 tasks, writes a commit", .powerLossSafe, peer: "at least", ours: group, theirs: 32,
    unit: "writes", ratio: Quartiles(exactly: group / 32), bar: 1)
}

private func alone(
  _ bench: Bench, _ store: HoldfastStore, _ direct: HoldfastStore, _ keys: KeyBlock, _ values: ValueBlock
) throws {
  let operations = bench.choose(60, quick: 12)
  try bench.compare(
    Workload.waiting("group commit, one task", .powerLossSafe, operations: operations).withThreads,
    [
      Contender("Holdfast") { slice in
        let range = slice.range(in: keys.count)
        return try inTasks(1) { _ in
          for index in range { try await store.putInGroup(keys, index, values, index) }
          return 0
        }
      },
      Contender("Holdfast, synchronous", bar: 0.8) { slice in
        for index in slice.range(in: keys.count) {
          try direct.put(keys, index..<index + 1, values, from: index, perCommit: 1)
        }
        return 0
      },
    ])
}

private func manyWriters(
  _ bench: Bench, _ store: HoldfastStore, _ raw: Peer, _ folder: WorkFolder, _ keys: KeyBlock, _ values: ValueBlock
) throws {
  let path = try folder.path(of: "sqlite")
  for (writers, bars) in [(8, [2.7, 1.9]), (32, [7, 8])] as [(Int, [Double?])] {
    let each = bench.choose(20, quick: 4)
    let connections = try (0..<writers).map { _ in try Peer(.sqlite, at: path, .powerLossSafe, records: keys.count) }
    let operations = writers * each
    let ours = Contender("Holdfast") { slice in
      let latencies = Mutex(Histogram())
      let start = slice.start % (keys.count - operations)
      _ = try inTasks(writers) { task in
        var mine = Histogram()
        for index in start + task * each..<start + (task + 1) * each {
          let begin = Clock.wall.now
          try await store.putInGroup(keys, index, values, index)
          mine.record(Clock.wall.now - begin)
        }
        latencies.withLock { [mine] in $0.merge(mine) }
        return 0
      }
      slice.latencies = latencies.withLock { $0 }
      return 0
    }
    let rawWriter = Contender("raw LMDB (C), 1 writer", bar: bars[0]) { slice in
      let start = slice.start % (keys.count - operations)
      for index in start..<start + operations {
        try raw.put(keys, index..<index + 1, values, from: index, perCommit: 1)
      }
      return 0
    }
    // A connection for each writer, and one that they share behind a lock, which is faster.
    let sqlite = [("SQLite, a connection each", bars[1], true), ("SQLite, one connection", nil, false)].map {
      (name, bar, isEach) in
      Contender(name, bar: bar) { slice in
        let latencies = Mutex(Histogram())
        let lock = Mutex(())
        let start = slice.start % (keys.count - operations)
        _ = try onThreads(writers) { thread in
          var mine = Histogram()
          for index in start + thread * each..<start + (thread + 1) * each {
            let begin = Clock.wall.now
            if isEach {
              try connections[thread].put(keys, index..<index + 1, values, from: index, perCommit: 1)
            } else {
              try lock.withLock { _ in
                try connections[0].put(keys, index..<index + 1, values, from: index, perCommit: 1)
              }
            }
            mine.record(Clock.wall.now - begin)
          }
          latencies.withLock { [mine] in $0.merge(mine) }
          return 0
        }
        slice.latencies = latencies.withLock { $0 }
        return 0
      }
    }
    try bench.compare(
      Workload.waiting("durable puts, \(writers) writers", .powerLossSafe, operations: operations).withThreads,
      [ours, rawWriter] + sqlite)
  }
}
