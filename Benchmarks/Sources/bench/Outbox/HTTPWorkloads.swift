import Harness
import Holdfast
import Peers

/// A whole life of entries that are delivered to a server of HTTP on this machine: added, taken, posted, removed.
///
/// All have the same client, whose connections are kept. The peers take as many as there are connections, post them, and
/// remove them in the transaction that takes the next; ours goes on with each as it comes back.
func httpWorkloads(_ bench: Bench, _ folder: WorkFolder) throws {
  let connections = 32
  let entries = connections * bench.choose(32, quick: 4)
  let rivals = try OutboxRivals(in: folder)
  let server = try LoopbackServer()
  let client = try LoopbackClient(server, connections: connections)
  let store = rivals.store
  let ours = Contender("Holdfast") { slice in
    try rivals.enqueue(slice.start..<slice.start + entries, perCommit: entries)
    let before = server.count
    let delivered = try inTasks(1) { _ in
      let report = try await store.outbox.drain(
        with: Poster(client: client), options: .init(goal: .idle, concurrency: connections))
      return UInt64(report.delivered)
    }
    guard delivered == entries, server.count - before == entries else {
      throw UsageError("the drain has lost or repeated entries")
    }
    return 0
  }
  let peers = rivals.queues.map { queue in
    Contender(queue.engine.name) { _ in
      try queue.enqueue(payload, count: entries, perCommit: entries)
      var taken = try queue.exchange([], limit: connections)
      while !taken.isEmpty {
        try client.postAll(payload, keys: taken)
        taken = try queue.exchange(taken, limit: connections)
      }
      return 0
    }
  }
  try bench.compare(
    Workload.waiting("enqueue and full drain over HTTP, \(connections) at a time", .powerLossSafe, operations: entries)
      .withThreads, [ours] + peers)
}

/// Posts each entry with a client.
private struct Poster: OutboxSender {
  let client: LoopbackClient

  func send(_ entry: OutboxEntry) async -> SendOutcome {
    let status = await client.post(entry.payload, key: entry.id.rawValue)
    return status == 200 ? .delivered(reply: []) : .transient(reason: "status \(status)")
  }
}
