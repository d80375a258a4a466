import Harness
import Peers

/// Point reads, reads of many keys, scans, two readers.
func readWorkloads(_ bench: Bench, _ rivals: Rivals, _ all: KeyBlock) throws {
  let count = all.count
  let suffix = count.named
  var random = Random(seed: 11)
  let draws = 1 << 18
  let uniform = all.picking((0..<draws).map { _ in random.below(count) })
  let hotRecords = (0..<10_000).map { _ in random.below(count) }
  let hot = all.picking((0..<draws).map { _ in hotRecords[random.below(hotRecords.count)] })
  let missing = KeyBlock((0..<draws).map { _ in random.below(count) * 2 + 1 })
  try pointReads(bench, rivals, uniform, hot, missing, suffix)
  try spelledKeys(bench, rivals, hot)
  try groupReads(bench, rivals, all, uniform, suffix)
  try scans(bench, rivals, all, suffix)
  try twoReaders(bench, rivals, hot)
}

private let everybody: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb, .kyoto, .wiredtiger]

/// Engines with the bars that some of them have.
private func with(_ bars: [Engine: Double], _ engines: [Engine] = everybody) -> [(Engine, bar: Double?)] {
  engines.map { ($0, bar: bars[$0]) }
}

private func pointReads(
  _ bench: Bench, _ rivals: Rivals, _ uniform: KeyBlock, _ hot: KeyBlock, _ missing: KeyBlock, _ suffix: String
) throws {
  for (workload, keys, bars) in [
    (.reading("readrandom \(suffix)", upTo: uniform.count), uniform, [.lmdb: 0.97, .sqlite: 3.5, .rocksdb: 2]),
    (.hotReading("readrandom, 10k hot", upTo: hot.count), hot, [.lmdb: 0.97, .sqlite: 8, .rocksdb: 3.5]),
    (.reading("readmissing \(suffix)", upTo: missing.count), missing, [.lmdb: 0.97]),
  ] as [(Workload, KeyBlock, [Engine: Double])] {
    try bench.compare(
      workload,
      rivals.contenders(with(bars)) {
        try rivals.ours.get(keys, $0.range(in: keys.count))
      } theirs: { _, reader, slice in
        try reader.get(keys, slice.range(in: keys.count))
      })
  }
  try bench.compare(
    .hotReading("readrandom, one snapshot, 10k hot", upTo: hot.count),
    rivals.contenders(with([.lmdb: 0.97])) {
      try rivals.ours.getInSnapshot(hot, $0.range(in: hot.count))
    } theirs: { _, reader, slice in
      try reader.getInSnapshot(hot, slice.range(in: hot.count))
    })
}

/// What it costs to have a key as text, to put it together, and to copy the value; against C with ready bytes.
private func spelledKeys(_ bench: Bench, _ rivals: Rivals, _ hot: KeyBlock) throws {
  let ours = rivals.ours
  let texts = (0..<hot.count).map { String(decoding: hot.bytes[$0 * 16..<($0 + 1) * 16], as: UTF8.self) }
  var random = Random(seed: 2)
  let ids = (0..<10_000).map { "\(10_000_000_000 + $0 * 7)" }
  let users = KeyBlock(texts: ids.map { "user:\($0)" })
  let values = ValueBlock(users.count, width: 100)
  try ours.put(users, 0..<users.count, values, from: 0, perCommit: users.count)
  for (peer, _) in rivals.peers where peer.engine == .lmdb {
    try peer.put(users, 0..<users.count, values, from: 0, perCommit: users.count)
  }
  let draws = (0..<hot.count).map { _ in random.below(ids.count) }
  let (drawnIDs, drawnUsers) = (draws.map { ids[$0] }, users.picking(draws))
  for (name, bar, keys, run) in [
    ("get, String key", 0.94, hot, { try ours.get(texts, $0) }),
    ("get, value copied to [UInt8]", 0.9, hot, { try ours.copy(hot, $0) }),
    ("get, type:id composed on the stack", 0.94, drawnUsers, { try ours.get(type: "user", ids: drawnIDs, $0) }),
  ] as [(String, Double, KeyBlock, (Range<Int>) throws -> UInt64)] {
    try bench.compare(
      .hotReading("\(name), 10k hot", upTo: hot.count),
      rivals.contenders([(.lmdb, bar: bar)]) {
        try run($0.range(in: hot.count))
      } theirs: { _, reader, slice in
        try reader.get(keys, slice.range(in: hot.count))
      })
  }
  // The other engines have not got them.
  try ours.remove(users, 0..<users.count, perCommit: users.count)
  for (peer, _) in rivals.peers where peer.engine == .lmdb {
    try peer.remove(users, 0..<users.count, perCommit: users.count)
  }
}

private func groupReads(
  _ bench: Bench, _ rivals: Rivals, _ all: KeyBlock, _ uniform: KeyBlock, _ suffix: String
) throws {
  let engines: [Engine] = [.lmdb, .sqlite, .sqliteIn, .rocksdb, .leveldb, .kyoto, .wiredtiger]
  var random = Random(seed: 3)
  for group in [3, 8, 64] {
    let groups = uniform.count / group
    // No key twice in a group: `IN` would read it once.
    let keys = all.picking((0..<groups).flatMap { _ in random.distinct(group, below: all.count) })
    let bars: [Engine: Double] = [.lmdb: 0.98, .sqlite: 2, .sqliteIn: 2, .rocksdb: 2]
    try bench.compare(
      .reading("multiget \(group) random \(suffix)", upTo: groups),
      rivals.contenders(with(bars, engines)) {
        try rivals.ours.getGroups(keys, $0.range(in: keys.count, by: group), of: group)
      } theirs: { _, reader, slice in
        try reader.getGroups(keys, slice.range(in: keys.count, by: group), of: group)
      })
  }
  let limits: [Int: [Double]] = [3: [1.5, 4, 3], 8: [3.5, 8, 7], 64: [8, 16, 18]]
  for group in [3, 8, 64] {
    let bars = limits[group] ?? []
    let starts = (0..<uniform.count / group).map { _ in random.below(all.count - group) }
    let keys = all.picking(starts.flatMap { $0..<$0 + group })
    let groups: [[[UInt8]]] = starts.map { start in
      (start..<start + group).map { Array(all.bytes[$0 * all.width..<($0 + 1) * all.width]) }
    }
    try bench.compare(
      .reading("multiget \(group) adjacent \(suffix)", upTo: groups.count),
      rivals.contenders(
        with([.lmdb: bars[0], .sqlite: bars[1], .sqliteIn: bars[1], .rocksdb: bars[2]], engines)
      ) {
        try rivals.ours.getGroups(groups, $0.range(in: groups.count))
      } theirs: { _, reader, slice in
        try reader.getGroups(keys, slice.range(in: keys.count, by: group), of: group)
      } + rivals.steps(keys, of: group))
  }
}

private func scans(_ bench: Bench, _ rivals: Rivals, _ all: KeyBlock, _ suffix: String) throws {
  let ordered: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb, .wiredtiger]
  try bench.compare(
    .reading("readseq \(suffix)", upTo: all.count),
    rivals.contenders(with([.lmdb: 0.9, .sqlite: 2.5, .rocksdb: 2.5], ordered)) { slice in
      let limit = slice.operations
      return try rivals.ours.scan(from: all, at: slice.place(in: all.count), limit: limit)
    } theirs: { _, reader, slice in
      try reader.scan(from: all, at: slice.place(in: all.count), limit: slice.operations)
    })
}

/// Two threads beside one, and beside two of other engines. Means nothing on a machine whose processors are taken.
private func twoReaders(_ bench: Bench, _ rivals: Rivals, _ keys: KeyBlock) throws {
  let ours = rivals.ours
  let operations = bench.choose(200_000, quick: 20_000)
  let size = min(operations, keys.count / 2)
  let workload = Workload.waiting("readrandom, 2 threads, 10k hot", .powerLossSafe, operations: size)
    .withThreads
  var contenders = [
    Contender("Holdfast", weight: 2) { _ in
      try onThreads(2) { try ours.get(keys, $0 * size..<($0 + 1) * size) }
    },
    Contender("Holdfast, 1 thread", bar: 1.9) { _ in
      try onThreads(1) { try ours.get(keys, $0 * size..<($0 + 1) * size) }
    },
  ]
  for (engine, bar) in [(Engine.lmdb, nil), (.sqlite, 4), (.rocksdb, 2.5)] as [(Engine, Double?)] {
    guard let (peer, reader) = rivals.peers.first(where: { $0.peer.engine == engine }) else { continue }
    let readers = [reader, try Reader(peer)]
    contenders.append(
      Contender("\(engine.name), 2 threads", bar: bar, weight: 2) { _ in
        try onThreads(2) { try readers[$0].get(keys, $0 * size..<($0 + 1) * size) }
      })
  }
  try bench.compare(workload, contenders)
}

extension Slice {
  /// A record to begin a scan at, so that the scan does not reach the end.
  func place(in count: Int) -> Int { operations >= count ? 0 : start % (count - operations) }
}
