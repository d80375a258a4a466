import Harness
import Peers

/// Writes of which each commit is flushed: single ones and batches.
func durableWriteWorkloads(_ bench: Bench, _ rivals: Rivals, _ all: KeyBlock, _ values: ValueBlock) throws {
  var random = Random(seed: 5)
  let rounds = bench.choose(103, quick: 43)
  let drawn = all.picking((0..<rounds * 1000).map { _ in random.below(all.count) })
  try single(bench, rivals, drawn, values, rounds)
  try batches(bench, rivals, all, drawn, values, rounds)
}

private func single(
  _ bench: Bench, _ rivals: Rivals, _ keys: KeyBlock, _ values: ValueBlock, _ rounds: Int
) throws {
  let operations = bench.choose(60, quick: 12)
  let bars: [(Engine, bar: Double?)] = [
    (.lmdb, 0.95), (.sqlite, nil), (.rocksdb, nil), (.leveldb, nil), (.wiredtiger, nil),
  ]
  try bench.compare(
    .waiting("fillsync: one put a commit", .powerLossSafe, operations: operations, roundLimit: rounds),
    rivals.contenders(bars) { slice in
      for index in slice.range(in: keys.count) {
        try slice.timed { try rivals.ours.put(keys, index..<index + 1, values, from: index, perCommit: 1) }
      }
      return 0
    } theirs: { peer, _, slice in
      for index in slice.range(in: keys.count) {
        try slice.timed { try peer.put(keys, index..<index + 1, values, from: index, perCommit: 1) }
      }
      return 0
    } + [
      Contender("one flush of the disk a commit") { slice in
        try runDiskFloor("\(rivals.ours.path)/../floor", count: slice.operations)
        return 0
      }
    ])
}

private func batches(
  _ bench: Bench, _ rivals: Rivals, _ all: KeyBlock, _ drawn: KeyBlock, _ values: ValueBlock, _ rounds: Int
) throws {
  let size = 1000
  let engines: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb, .wiredtiger]
  func compare(
    _ name: String, _ keys: KeyBlock, bars: [Engine: Double], appends: Bool = false,
    _ place: @escaping (Slice) -> Int, also: [Contender] = []
  ) throws {
    try bench.compare(
      .waiting(name, .powerLossSafe, operations: size, roundLimit: rounds),
      rivals.contenders(engines.map { ($0, bar: bars[$0]) }) { slice in
        let first = place(slice)
        try rivals.ours.put(keys, first..<first + size, values, from: first % (values.count - size), perCommit: size)
        return 0
      } theirs: { peer, _, slice in
        let first = place(slice)
        try peer.put(
          keys, first..<first + size, values, from: first % (values.count - size), perCommit: size, appends: appends)
        return 0
      } + also)
  }
  let inOrder = { (slice: Slice) in slice.round * size }
  try compare("overwrite, 1,000 random a commit", drawn, bars: [.lmdb: 1, .sqlite: 1.3], inOrder)
  var random = Random(seed: 6)
  let starts = (0..<rounds).map { _ in random.below(all.count - size) }
  let randomOrder = Contender("Holdfast, random keys", bar: 15) { slice in
    let first = slice.round * size
    try rivals.ours.put(drawn, first..<first + size, values, from: first, perCommit: size)
    return 0
  }
  try compare(
    "overwrite, 1,000 adjacent a commit", all, bars: [.lmdb: 0.97], { starts[$0.round] }, also: [randomOrder])
  let rising = KeyBlock((0..<rounds * size).map { (all.count + $0) * 2 })
  try compare("append, 1,000 rising a commit", rising, bars: [.lmdb: 0.95], appends: true, inOrder)
}

/// db_bench's fills, without a flush: each record in a commit of its own.
func fillWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let rounds = bench.choose(103, quick: 43)
  let operations = bench.choose(1000, quick: 100)
  let count = rounds * operations
  var random = Random(seed: 8)
  let order = (0..<count).shuffled(using: &random)
  let all = KeyBlock(0..<count)
  let values = ValueBlock(count, width: 100)
  let engines: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb, .wiredtiger]
  let workload = { (name: String) in
    Workload.writing(name, operations: operations, roundLimit: rounds)
  }
  let bars = engines.map { (engine: Engine) in (engine, bar: engine == .lmdb ? 0.95 : nil) }
  let seq = try Rivals(in: folder.folder("seq"), .processCrashSafe, engines, records: count)
  let randomly = try Rivals(in: folder.folder("random"), .processCrashSafe, engines, records: count)
  let shuffled = all.picking(order)
  let overwritten = all.picking((0..<count).map { _ in random.below(count) })
  for (name, rivals, keys) in [
    ("fillseq", seq, all), ("fillrandom", randomly, shuffled), ("overwrite", randomly, overwritten),
  ] {
    try bench.compare(
      workload("\(name): one put a commit"),
      rivals.contenders(bars) { slice in
        try rivals.ours.put(keys, slice.range(in: count), values, from: slice.start, perCommit: 1)
        return 0
      } theirs: { peer, _, slice in
        try peer.put(keys, slice.range(in: count), values, from: slice.start, perCommit: 1)
        return 0
      })
  }
  try bench.compare(
    workload("deleterandom: one a commit"),
    randomly.contenders(bars) { slice in
      try randomly.ours.remove(shuffled, slice.range(in: count), perCommit: 1)
      return 0
    } theirs: { peer, _, slice in
      try peer.remove(shuffled, slice.range(in: count), perCommit: 1)
      return 0
    })
}
