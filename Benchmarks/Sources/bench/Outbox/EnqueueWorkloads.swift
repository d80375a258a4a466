import Harness
import Holdfast
import Peers

/// One producer: 1, 32 and 256 entries a commit, and an entry with a change of state.
func enqueueWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let rivals = try OutboxRivals(in: folder)
  let floorPath = "\(folder.path)/floor"
  for (perCommit, bars) in [
    (1, [Engine.lmdb: 0.95]), (32, [.lmdb: 0.95, .sqlite: 0.85]), (256, [.lmdb: 0.95, .sqlite: 1.05, .rocksdb: 1.15]),
  ] {
    let operations = perCommit == 1 ? bench.choose(40, quick: 10) : perCommit * 4
    let ours = Contender("Holdfast") { slice in
      try rivals.enqueue(slice.start..<slice.start + operations, perCommit: perCommit)
      return 0
    }
    let peers = rivals.queues.map { queue in
      Contender(queue.engine.name, bar: bars[queue.engine]) { _ in
        try queue.enqueue(payload, count: operations, perCommit: perCommit)
        return 0
      }
    }
    let floor = Contender("one flush of the disk a commit") { _ in
      try runDiskFloor(floorPath, count: operations / perCommit)
      return 0
    }
    try bench.compare(
      .waiting("enqueue, \(perCommit) a commit", .powerLossSafe, operations: operations), [ours] + peers + [floor])
    if perCommit == 1 { try pagesOfEnqueue(bench, rivals) }
  }
  try enqueueWithState(bench, rivals.store)
}

/// The pages that one entry in a commit of its own writes.
private func pagesOfEnqueue(_ bench: Bench, _ rivals: OutboxRivals) throws {
  let count = 32
  let ours = try pagesWritten { try rivals.enqueue(1_000_000..<1_000_000 + count, perCommit: 1) } / Double(count)
  let theirs = try pagesWritten { try rivals.queues[0].enqueue(payload, count: count, perCommit: 1) } / Double(count)
  bench.add(
    "enqueue, 1 a commit, pages written", .powerLossSafe, peer: rivals.queues[0].engine.name, ours: ours,
    theirs: theirs, unit: "pages", ratio: Quartiles(exactly: theirs / ours))
}

/// What makes one store of two: a change of state and the request for it in one transaction, beside the request alone.
private func enqueueWithState(_ bench: Bench, _ store: Store) throws {
  let operations = bench.choose(40, quick: 10)
  let name = "state update and enqueue in one commit"
  func both(_ numbers: Range<Int>) throws {
    for number in numbers {
      try store.write { transaction in
        try store.state.update(StateKey(type: "post", id: "\(number % 1000)"), ["isSent": false], in: &transaction)
        try store.outbox.enqueue(request(number), in: &transaction)
      }
    }
  }
  func alone(_ numbers: Range<Int>) throws {
    for number in numbers {
      try store.write { transaction in _ = try store.outbox.enqueue(request(number), in: &transaction) }
    }
  }
  try bench.compare(
    .waiting(name, .powerLossSafe, operations: operations),
    [
      Contender("Holdfast") { slice in
        try both(slice.start..<slice.start + operations)
        return 0
      },
      Contender("Holdfast, enqueue alone", bar: 1 / 1.1) { slice in
        try alone(slice.start..<slice.start + operations)
        return 0
      },
    ])
  let count = 128
  let ours = try pagesWritten { try both(2_000_000..<2_000_000 + count) } / Double(count)
  let theirs = try pagesWritten { try alone(3_000_000..<3_000_000 + count) } / Double(count)
  bench.add(
    "\(name), pages written", .powerLossSafe, peer: "Holdfast, enqueue alone", ours: ours, theirs: theirs,
    unit: "pages", ratio: Quartiles(exactly: theirs / ours))
}

/// Many producers, whose entries share commits.
func producerWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let rivals = try OutboxRivals(in: folder, [.lmdb])
  let store = rivals.store
  for (tasks, bar) in [(8, 2.7), (32, 6.5), (64, nil)] as [(Int, Double?)] {
    let each = bench.choose(16, quick: 4)
    let operations = tasks * each
    let ours = Contender("Holdfast") { slice in
      let start = slice.start
      return try inTasks(tasks) { task in
        for number in start + task * each..<start + (task + 1) * each {
          try await store.write { transaction in
            _ = try store.outbox.enqueue(request(number), in: &transaction)
          }
        }
        return 0
      }
    }
    let raw = Contender("raw LMDB (C), 1 producer", bar: bar) { _ in
      try rivals.queues[0].enqueue(payload, count: operations, perCommit: 1)
      return 0
    }
    try bench.compare(
      Workload.waiting("enqueue, \(tasks) tasks", .powerLossSafe, operations: operations).withThreads, [ours, raw])
  }
}
