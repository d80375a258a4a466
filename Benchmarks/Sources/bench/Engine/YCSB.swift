import Harness
import Peers

/// YCSB's workloads A to F with records of 1,000 bytes, one thread, no flush.
func ycsbWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(100_000, quick: 10_000)
  let operations = bench.choose(1000, quick: 200)
  let rounds = bench.choose(53, quick: 23)
  let total = operations * rounds
  // Room for what D and E insert.
  let keys = KeyBlock((0..<count + total).map { $0 })
  let values = ValueBlock(count + total, width: 1000)
  var random = Random(seed: 10)
  let engines: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb]
  let rivals = try Rivals.loaded(
    in: folder, .processCrashSafe, engines, keys.picking((0..<count).shuffled(using: &random)), values)

  let zipf = Zipfian(count: count)
  var inserted = count
  for (name, draw) in [
    ("A, 50 % reads, 50 % updates", { mix(&$0, zipf, reads: 50, otherwise: .update) }),
    ("B, 95 % reads, 5 % updates", { mix(&$0, zipf, reads: 95, otherwise: .update) }),
    ("C, reads", { OperationList.Operation(.read, key: zipf.next(&$0)) }),
    (
      "D, 95 % reads of the latest, 5 % inserts",
      { random in
        if random.below(100) < 95 {
          return .init(.read, key: max(0, inserted - 1 - zipf.rank(&random)))
        }
        inserted += 1
        return .init(.update, key: inserted - 1)
      }
    ),
    (
      "E, 95 % scans of 1 to 100, 5 % inserts",
      { random in
        if random.below(100) < 95 {
          return .init(.scan, key: zipf.next(&random), length: 1 + random.below(100))
        }
        inserted += 1
        return .init(.update, key: inserted - 1)
      }
    ),
    (
      "F, 50 % reads, 50 % read-modify-write",
      { mix(&$0, zipf, reads: 50, otherwise: .readModifyWrite) }
    ),
  ] as [(String, (inout Random) -> OperationList.Operation)] {
    let list = OperationList((0..<total).map { _ in draw(&random) })
    try bench.compare(
      .writing("YCSB \(name)", operations: operations, roundLimit: rounds, comparesSums: true),
      rivals.contenders(engines.map { ($0, bar: nil) }) { slice in
        try rivals.ours.run(list, slice.start..<slice.start + operations, keys, values)
      } theirs: { peer, reader, slice in
        try peer.run(list, slice.start..<slice.start + operations, reader, keys, values)
      })
    try rivals.settle()
  }
}

private func mix(
  _ random: inout Random, _ zipf: Zipfian, reads: Int, otherwise kind: OperationList.Kind
) -> OperationList.Operation {
  .init(random.below(100) < reads ? .read : kind, key: zipf.next(&random))
}
