import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct LaneTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func aLaneKeepsItsOrder() async throws {
    let store = try open()
    try store.enqueue(["1", "2", "3"], lane: "a")
    try store.enqueue(["x", "y"], lane: "b")
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.filter { $0.lane == "a" }.map(\.text) == ["1", "2", "3"])
    #expect(sender.sent.filter { $0.lane == "b" }.map(\.text) == ["x", "y"])
    #expect(try store.outboxRows().isEmpty)
  }

  /// Names that begin alike, on both sides of the length at which a hash stands for the rest.
  @Test func lanesAreToldApartByTheirWholeNames() async throws {
    let store = try open()
    let long = String(repeating: "n", count: 47)
    let names = [
      "", "a", "ab", "é", String(long.dropLast()), long, long + "1", long + "2",
      long + String(repeating: "é", count: 400),
    ]
    for name in names { try store.enqueue(["1", "2"], lane: name) }
    #expect(try store.outbox.verify().problems == [])
    for name in names {
      let ids = try store.environment.read { t in try store.outbox.ids(ofLane: name, in: t) }
      #expect(ids.count == 2, "\(name)")
    }
    // All heads go first, then all that were behind them.
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender, options: .init(concurrency: names.count))
    #expect(sender.sent.prefix(names.count).allSatisfy { $0.text == "1" })
    #expect(Set(sender.sent.prefix(names.count).map(\.lane)) == Set(names) && sender.sent.count == 2 * names.count)
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func aFailingHeadHoldsUpItsLaneAlone() async throws {
    let store = try open()
    try store.enqueue(["1", "2"], lane: "a")
    try store.enqueue(["x"], lane: "b")
    let sender = ScriptedSender { entry, count in
      entry.text == "1" && count < 4 ? .transient(reason: "http 503") : .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender, options: .init(concurrency: 1))
    #expect(sender.sent.filter { $0.lane == "a" }.map(\.text) == ["1", "1", "1", "1", "2"])
    #expect(sender.sent.map(\.text).firstIndex(of: "x") == 1)
  }

  @Test func allAttemptsCarryOneKeyAndTheSameBytes() async throws {
    let store = try open()
    try store.enqueue(["1", "2"], lane: "a")
    let sender = ScriptedSender { _, count in count < 3 ? .transient(reason: "no") : .delivered(reply: []) }
    try await store.outbox.drain(with: sender)
    let keys = Dictionary(grouping: sender.sent, by: \.id).mapValues { Set($0.map(\.idempotencyKey)) }
    #expect(keys.count == 2 && keys.values.allSatisfy { $0.count == 1 })
    #expect(Set(sender.sent.map(\.idempotencyKey)).count == 2)
  }

  @Test func stateAndRequestCommitTogetherOrNotAtAll() async throws {
    struct Stop: Error {}
    let store = try open()
    #expect(throws: Stop.self) {
      try store.write { t in
        try store.state.update("post:1", ["hasComment": true], in: &t)
        try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: []), in: &t)
        throw Stop()
      }
    }
    #expect(try store.outboxRows().isEmpty)
    #expect(try store.state.merged(["post:1"]).isEmpty)
  }

  @Test func badRequestsAreTypedErrors() throws {
    let store = try open()
    for request in [
      OutboxRequest(kind: "", lane: "l", payload: []),
      OutboxRequest(kind: "k", lane: "l", payload: [UInt8](repeating: 0, count: OutboxRequest.payloadLimit + 1)),
    ] {
      #expect { try store.write { t in _ = try store.outbox.enqueue(request, in: &t) } } throws: {
        ($0 as? StoreError)?.code == .invalidValue
      }
    }
    #expect(try store.outboxRows().isEmpty)
  }
}
