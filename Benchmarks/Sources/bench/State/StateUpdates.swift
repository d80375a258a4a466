import Harness
import Holdfast
import LMDB
import Peers
import Synchronization

/// Updates of records, durable: alone, in batches, from many tasks. Peers put the same number of bytes, once a record:
/// what the state adds is an index by id, a log of changes, and the read of the record that it merges into.
func stateUpdates(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(100_000, quick: 10_000)
  let records = try StateRecords(count: count, in: folder)
  let store = records.store
  let values = ValueBlock(count, width: 180)
  var random = Random(seed: 54)
  let drawn = (0..<1 << 16).map { _ in random.below(records.keys.count) }
  let engineKeys = records.engineKeys.picking(drawn)
  let engines: [(Engine, bar: Double?)] = [(.lmdb, nil), (.sqlite, nil), (.rocksdb, nil)]
  for (name, perCommit, operations) in [
    ("update, one a commit", 1, bench.choose(40, quick: 10)),
    ("update, 1,000 a commit", 1000, 1000),
  ] {
    try bench.compare(
      .waiting(name, .powerLossSafe, operations: operations),
      records.rivals.contenders(engines) { slice in
        let range = slice.range(in: drawn.count)
        for first in stride(from: range.lowerBound, to: range.upperBound, by: perCommit) {
          try store.write { transaction in
            for index in first..<first + perCommit {
              try store.state.update(
                records.keys[drawn[index]], ["commentCount": .int(Int64(index)), "isFollowed": true], in: &transaction)
            }
          }
        }
        return 0
      } theirs: { peer, _, slice in
        let range = slice.range(in: drawn.count)
        try peer.put(engineKeys, range, values, from: 0, perCommit: perCommit)
        return 0
      })
  }
  try updatesFromTasks(bench, records, drawn, engineKeys, values)
}

private func updatesFromTasks(
  _ bench: Bench, _ records: StateRecords, _ drawn: [Int], _ engineKeys: KeyBlock, _ values: ValueBlock
) throws {
  let (tasks, each) = (64, bench.choose(16, quick: 4))
  let (store, keys) = (records.store, records.keys)
  let ours = Contender("Holdfast") { slice in
    let range = slice.range(in: drawn.count)
    return try inTasks(tasks) { task in
      for turn in 0..<each {
        let index = range.lowerBound + task * each + turn
        let key = keys[drawn[index]]
        try await store.write { transaction in
          try store.state.update(
            key, ["commentCount": .int(Int64(index)), "isFollowed": true], in: &transaction)
        }
      }
      return 0
    }
  }
  let lock = Mutex(())
  let peers = records.rivals.peers.filter { [.sqlite, .rocksdb].contains($0.peer.engine) }.map { peer, _ in
    // SQLite's connection is used by one thread at a time; RocksDB groups what its threads commit.
    let isShared = peer.engine == .rocksdb
    return Contender("\(peer.engine.name), 64 threads") { slice in
      let range = slice.range(in: drawn.count)
      return try onThreads(tasks) { thread in
        for turn in 0..<each {
          let index = range.lowerBound + thread * each + turn
          let put = { try peer.put(engineKeys, index..<index + 1, values, from: turn, perCommit: 1) }
          if isShared { try put() } else { try lock.withLock { _ in try put() } }
        }
        return 0
      }
    }
  }
  try bench.compare(
    Workload.waiting("update, from 64 tasks", .powerLossSafe, operations: tasks * each).withThreads, [ours] + peers)
}
