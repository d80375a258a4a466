import Harness
import Holdfast
import LMDB
import Peers

/// Merged reads of 3, 8 and 64 keys, at random and next to each other, without the memo.
func stateReads(_ bench: Bench, _ records: StateRecords, suffix: String) throws {
  var random = Random(seed: 51)
  let draws = bench.choose(1 << 17, quick: 1 << 14)
  for size in [3, 8, 64] {
    let groups = KeyGroups(records, (0..<draws / size).map { _ in random.distinct(size, below: records.keys.count) })
    try spans(bench, records, groups, "raw value spans, \(size) random, \(suffix)")
    let peers: [(Engine, bar: Double?)] =
      size == 8
      ? [(.lmdb, 0.8), (.sqlite, 2), (.sqliteIn, 2), (.rocksdb, 2), (.kyoto, nil)]
      : [(.lmdb, 0.8), (.sqlite, nil), (.sqliteIn, nil), (.rocksdb, nil), (.kyoto, nil)]
    try merges(bench, records, groups, "withMerged, 2 fields, \(size) random, \(suffix)", peers)
    try bench.compare(
      unchecked("merged, all fields, \(size) random, \(suffix)", groups.count),
      records.rivals.contenders([(.lmdb, nil)]) { slice in
        for index in slice.range(in: groups.count) { _ = try records.store.state.merged(groups.keys[index]) }
        return 0
      } theirs: { _, reader, slice in
        try groups.get(reader, slice)
      })
  }
  for (size, bars) in [(3, [1.5, 4]), (8, [3.5, 8]), (64, [8, 16])] {
    let starts = (0..<draws / size).map { _ in random.below(records.keys.count - size) }
    let groups = KeyGroups(records, starts.map { Array($0..<$0 + size) })
    try merges(
      bench, records, groups, "withMerged, 2 fields, \(size) adjacent, \(suffix)",
      [(.lmdb, bars[0]), (.sqlite, bars[1]), (.sqliteIn, bars[1]), (.rocksdb, nil), (.kyoto, nil)],
      records.rivals.steps(groups.engineKeys, of: size))
  }
}

/// Lists of keys, for the store and for the engines.
struct KeyGroups {
  let keys: [[StateKey]]
  let engineKeys: KeyBlock
  let size: Int
  var count: Int { keys.count }

  init(_ records: StateRecords, _ groups: [[Int]]) {
    keys = groups.map { $0.map { records.keys[$0] } }
    engineKeys = records.engineKeys.picking(groups.joined())
    size = groups.first?.count ?? 1
  }

  func get(_ reader: Reader, _ slice: Slice) throws -> UInt64 {
    try reader.getGroups(engineKeys, slice.range(in: engineKeys.count, by: size), of: size)
  }
}

/// A read whose sums differ, since one side decodes fields and the other takes bytes.
func unchecked(_ name: String, _ limit: Int) -> Workload {
  .reading(name, upTo: limit, comparesSums: false)
}

/// What the engine gives without the state on top.
private func spans(_ bench: Bench, _ records: StateRecords, _ groups: KeyGroups, _ name: String) throws {
  try bench.compare(
    .reading(name, upTo: groups.count),
    records.rivals.contenders([(.lmdb, 0.95)]) {
      try records.rivals.ours.getGroups(
        groups.engineKeys, $0.range(in: groups.engineKeys.count, by: groups.size), of: groups.size)
    } theirs: { _, reader, slice in
      try groups.get(reader, slice)
    })
}

/// Two fields read where they lie, beside peers that only touch the bytes of each record. One of the fields is nowhere, so
/// that every record has to be looked at.
private func merges(
  _ bench: Bench, _ records: StateRecords, _ groups: KeyGroups, _ name: String, _ peers: [(Engine, bar: Double?)],
  _ others: [Contender] = []
) throws {
  try bench.compare(
    unchecked(name, groups.count),
    records.rivals.contenders(peers) { slice in
      var sum: UInt64 = 0
      for index in slice.range(in: groups.count) {
        sum &+= try records.store.state.withMerged(groups.keys[index]) { fields in
          guard let count = try fields.int("commentCount"), try fields.bool("isHidden") == nil else {
            throw UsageError("a record of the state suite has lost a field, or found one")
          }
          return UInt64(truncatingIfNeeded: count)
        }
      }
      return sum
    } theirs: { _, reader, slice in
      try groups.get(reader, slice)
    } + others)
}

/// The same lists again and again, nothing changed meanwhile: what the memo is for.
func rememberedReads(_ bench: Bench, _ records: StateRecords) throws {
  var random = Random(seed: 52)
  let store = try Store.open(at: records.store.path + "/../remembering", state: StateOptions(memoLimit: 8192))
  try store.write { transaction in
    for index in records.keys.indices {
      try store.state.replace(records.keys[index], with: StateRecords.fields(index), in: &transaction)
    }
  }
  let order = records.keys.indices.shuffled(using: &random)
  for size in [3, 8, 64] {
    // All of the ten thousand records are in one of the lists.
    let lists = records.keys.count / size
    let groups = KeyGroups(
      records, (0..<lists).map { Array(order[$0 * size..<($0 + 1) * size]) })
    var workload = Workload.hotReading("merged again, unchanged, \(size) keys, 10k", upTo: 1 << 16)
    // Each list once a slice: some of them alone would stay nearer to the processor.
    workload.size = .fixed(lists)
    workload.comparesSums = false
    // Copying the list is part of it: a list that is made anew is compared key by key.
    let anew = Contender("Holdfast, list made anew") { slice in
      for operation in 0..<slice.operations {
        let keys = groups.keys[operation].map { $0 }
        if try store.state.merged(keys).isEmpty { throw UsageError("a record of the state suite is gone") }
      }
      return 0
    }
    try bench.compare(
      workload,
      records.rivals.contenders([(.lmdb, 5), (.kyoto, 2), (.sqlite, nil), (.rocksdb, nil)]) { slice in
        for operation in 0..<slice.operations {
          if try store.state.merged(groups.keys[operation]).isEmpty {
            throw UsageError("a record of the state suite is gone")
          }
        }
        return 0
      } theirs: { _, reader, slice in
        try reader.getGroups(groups.engineKeys, 0..<slice.operations * size, of: size)
      } + [anew])
  }
}
