import Harness
import Holdfast
import LMDB
import Peers

/// Taking and acknowledging entries; ours through a whole drain, with a sender for whom all has arrived at once.
func deliveryWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let batch = 256
  let entries = batch * bench.choose(4, quick: 1)
  let rivals = try OutboxRivals(in: folder)
  let bars: [Engine: Double] = [.lmdb: 0.95, .sqlite: 1.2, .rocksdb: 2]
  // Filling takes part of each slice too, alike for all: a whole life of an entry.
  let ours = Contender("Holdfast") { slice in
    try rivals.enqueue(slice.start..<slice.start + entries, perCommit: entries)
    guard try rivals.drain(concurrency: batch) == entries else { throw UsageError("the drain has lost entries") }
    return 0
  }
  let peers = rivals.queues.map { queue in
    Contender(queue.engine.name, bar: bars[queue.engine]) { _ in
      try queue.enqueue(payload, count: entries, perCommit: entries)
      try queue.empty(batch)
      return 0
    }
  }
  try bench.compare(
    Workload.waiting("enqueue, take and acknowledge, \(batch) at a time", .powerLossSafe, operations: entries)
      .withThreads, [ours] + peers)

  let alone = Contender("raw LMDB (C), a commit for each ack", bar: 8) { _ in
    try rivals.queues[0].enqueue(payload, count: entries, perCommit: entries)
    try rivals.queues[0].empty(batch, acknowledgesAlone: true)
    return 0
  }
  try bench.compare(
    Workload.waiting("acks that ride with others", .powerLossSafe, operations: entries).withThreads, [ours, alone])
}

extension PeerQueue {
  /// Takes and acknowledges until nothing is left.
  func empty(_ batch: Int, acknowledgesAlone: Bool = false) throws {
    while try take(batch, acknowledgesAlone: acknowledgesAlone) > 0 {}
  }
}

/// What a backlog costs: its last tenth beside its first, filling the file again, opening it, a claim beside many entries.
func backlogWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let count = bench.choose(1_000_000, quick: 10_000)
  let path = try folder.path(of: "backlog")
  var tenths: [Double] = []
  var sizes: [Double] = []
  do {
    let store = try Store.open(at: path)
    for _ in 0..<2 {
      for first in stride(from: 0, to: count, by: 1000) {
        try store.write { transaction in
          for number in first..<first + 1000 { try store.outbox.enqueue(request(number), in: &transaction) }
        }
      }
      sizes.append(Double(WorkFolder.diskBytes(path)))
      let times = TenthTimes(count: count)
      _ = try inTasks(1) { _ in
        UInt64(try await store.outbox.drain(with: times, options: .init(goal: .idle, concurrency: 256)).delivered)
      }
      tenths = times.tenths
    }
  }
  if let first = tenths.first, let last = tenths.last {
    bench.add(
      "drain of \(count.named) entries, the last tenth", .powerLossSafe, peer: "the first tenth",
      ours: Double(count / 10) / last * 1e9, theirs: Double(count / 10) / first * 1e9, unit: "per s",
      ratio: Quartiles(exactly: first / last), bar: 0.9)
  }
  bench.add(
    "file after filling it again with \(count.named)", .powerLossSafe, peer: "after the first time",
    ours: sizes[1] / 1e6, theirs: sizes[0] / 1e6, unit: "MB", ratio: Quartiles(exactly: sizes[0] / sizes[1]),
    bar: 1 / 1.05)
  try openingWithBacklog(bench, folder, count: count)
}

/// Opening a store with many pending entries, beside one with few.
private func openingWithBacklog(_ bench: Bench, _ folder: WorkFolder, count: Int) throws {
  func filled(_ name: String, _ count: Int) throws -> String {
    let path = try folder.path(of: name)
    let store = try Store.open(at: path)
    for first in stride(from: 0, to: count, by: 1000) {
      try store.write { transaction in
        for number in first..<min(first + 1000, count) { try store.outbox.enqueue(request(number), in: &transaction) }
      }
    }
    return path
  }
  let (large, small) = (try filled("large", count), try filled("small", 100))
  func opening(_ path: String) -> (Slice) throws -> UInt64 {
    { _ in
      let store = try Store.open(at: path)
      return UInt64(try store.outbox.pendingEntries(limit: 1).count)
    }
  }
  var workload = Workload.waiting("open with \(count.named) pending entries", .powerLossSafe, operations: 1)
  workload.unit = .nanoseconds
  try bench.compare(
    workload,
    [Contender("Holdfast", run: opening(large)), Contender("Holdfast, 100 pending", bar: 0.8, run: opening(small))])
}
