import Harness
import Holdfast
import Peers

/// Enqueueing, delivery and what a backlog costs, beside outboxes that one would build on SQLite or RocksDB.
func outboxSuite(_ bench: Bench) throws {
  try bench.withFolder("enqueue") { try enqueueWorkloads(bench, $0) }
  try bench.withFolder("producers") { try producerWorkloads(bench, $0) }
  try bench.withFolder("deliver") { try deliveryWorkloads(bench, $0) }
  try bench.withFolder("http") { try httpWorkloads(bench, $0) }
  try bench.withFolder("backlog") { try backlogWorkloads(bench, $0) }
  try bench.withFolder("blocked") { try blockedWorkloads(bench, $0) }
}

/// What every entry carries.
let payload = Array(ValueBlock(1, width: 200).bytes)

/// A request in a lane of its own.
func request(_ number: Int) -> OutboxRequest {
  OutboxRequest(kind: "comment", lane: "post:\(number)", payload: payload)
}

/// A store and the outboxes of other engines.
struct OutboxRivals {
  let store: Store
  let queues: [PeerQueue]

  init(in folder: WorkFolder, _ engines: [Engine] = [.lmdb, .sqlite, .rocksdb]) throws {
    store = try Store.open(at: folder.path(of: "holdfast"))
    queues = try engines.map { try PeerQueue($0, at: folder.path(of: $0.rawValue)) }
  }

  /// Adds entries, some in a transaction.
  func enqueue(_ numbers: Range<Int>, perCommit: Int) throws {
    for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: perCommit) {
      try store.write { transaction in
        for number in first..<min(first + perCommit, numbers.upperBound) {
          try store.outbox.enqueue(request(number), in: &transaction)
        }
      }
    }
  }

  /// Fills all outboxes alike.
  func fill(_ count: Int) throws {
    try enqueue(0..<count, perCommit: 1000)
    for queue in queues { try queue.enqueue(payload, count: count, perCommit: 1000) }
  }

  /// Delivers what is there, as many at a time as said, to a sender that takes everything at once.
  func drain(concurrency: Int) throws -> Int {
    let store = store
    return Int(
      try inTasks(1) { _ in
        let report = try await store.outbox.drain(
          with: Taker(), options: .init(goal: .idle, concurrency: concurrency))
        return UInt64(report.delivered)
      })
  }
}

/// A sender for whom everything has arrived at once.
struct Taker: OutboxSender {
  func send(_ entry: OutboxEntry) async throws -> SendOutcome { .delivered(reply: []) }
}
