import Harness
import LMDB
import Peers

/// What an operation costs as the store grows: beside a store of 10,000 records, and beside peers of the same size.
func scaleSuite(_ bench: Bench) throws {
  try bench.withFolder("small") { folder in
    let small = 10_000
    let smallKeys = KeyBlock(0..<small)
    let smallStore = try HoldfastStore(at: folder.path(of: "holdfast"), .processCrashSafe)
    try smallStore.put(smallKeys, 0..<small, ValueBlock(small, width: 100), from: 0, perCommit: 1000)
    for count in bench.choose([10_000, 100_000, 1_000_000, 10_000_000], quick: [10_000, 100_000]) {
      try bench.withFolder("scale") { folder in
        try scaled(bench, folder, to: count, smallStore, smallKeys)
      }
    }
  }
}

private func scaled(
  _ bench: Bench, _ folder: WorkFolder, to count: Int, _ small: HoldfastStore, _ smallKeys: KeyBlock
) throws {
  let engines: [Engine] = [.lmdb, .sqlite, .rocksdb]
  let all = KeyBlock(0..<count)
  let values = ValueBlock(count, width: 100)
  // In order: random filling of ten million would take most of an hour.
  let rivals = try Rivals.loaded(in: folder, .processCrashSafe, engines, all, values)
  let ours = rivals.ours
  let peers = engines.map { ($0, bar: nil as Double?) }
  let suffix = "\(count.named) records"
  var random = Random(seed: 40)
  let draws = 1 << 17
  let drawn = all.picking((0..<draws).map { _ in random.below(count) })
  let drawnSmall = smallKeys.picking((0..<draws).map { _ in random.below(smallKeys.count) })
  let name = "Holdfast, \(smallKeys.count.named) records"

  var reads = Workload.reading("readrandom, \(suffix)", .processCrashSafe, upTo: draws)
  reads.comparesSums = false
  try bench.compare(
    reads,
    rivals.contenders(peers) {
      try ours.get(drawn, $0.range(in: draws))
    } theirs: { _, reader, slice in
      try reader.get(drawn, slice.range(in: draws))
    } + [Contender(name) { try small.get(drawnSmall, $0.range(in: draws)) }])

  var scans = Workload.reading("scan of 100, \(suffix)", .processCrashSafe, upTo: draws / 100)
  scans.comparesSums = false
  try bench.compare(
    scans,
    rivals.contenders(peers) { slice in
      try slice.range(in: draws).reduce(0) { $0 &+ (try ours.scan(from: drawn, at: $1, limit: 100)) }
    } theirs: { _, reader, slice in
      try slice.range(in: draws).reduce(0) { $0 &+ (try reader.scan(from: drawn, at: $1, limit: 100)) }
    } + [
      Contender(name) { slice in
        try slice.range(in: draws).reduce(0) { $0 &+ (try small.scan(from: drawnSmall, at: $1, limit: 100)) }
      }
    ])

  for (label, perCommit) in [("one put a commit", 1), ("100 puts a commit", 100)] {
    let operations = 400
    let start = { (slice: Slice) in slice.start % (min(count, values.count) - operations) }
    try bench.compare(
      .writing("overwrite, \(label), \(suffix)", operations: operations, roundLimit: .max),
      rivals.contenders(peers) { slice in
        try ours.put(drawn, slice.range(in: draws), values, from: start(slice), perCommit: perCommit)
        return 0
      } theirs: { peer, _, slice in
        try peer.put(drawn, slice.range(in: draws), values, from: start(slice), perCommit: perCommit)
        return 0
      } + [
        Contender(name) { slice in
          try small.put(drawnSmall, slice.range(in: draws), values, from: start(slice), perCommit: perCommit)
          return 0
        }
      ])
  }
}
