import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct ScopeTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test(
    arguments: [
      (.all, []), (.queue("q"), ["2", "3", "4"]), (.lane("1"), ["2", "3", "4"]), (.host("h"), ["1", "3", "4"]),
      (.credentials("c"), ["1", "2", "4"]), (.host(nil), ["2"]),
    ] as [(OutboxScope, [String])])
  func aPauseStopsItsScopeAlone(_ scope: OutboxScope, _ expected: [String]) async throws {
    let store = try open()
    try store.enqueue("1", lane: "1") { $0.queue = "q" }
    try store.enqueue("2", lane: "2") { $0.host = "h" }
    try store.enqueue("3", lane: "3") { $0.credentials = "c" }
    try store.enqueue("4", lane: "4") { _ in }
    try await store.write { t in try store.outbox.pause(scope, in: &t) }
    #expect(try store.outbox.pausedScopes() == [scope])
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text).sorted() == expected)
    try await store.write { t in try store.outbox.resume(scope, in: &t) }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text).sorted() == ["1", "2", "3", "4"])
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func aPausedLaneStaysPausedWhateverHappensInIt() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2", "3"], lane: "a")
    try await store.write { t in try store.outbox.pause(.lane("a"), in: &t) }
    try await store.write { t in _ = try store.outbox.cancel(.entry(ids[0]), in: &t) }
    try store.enqueue(["4"], lane: "a")
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.isEmpty)
    try await store.write { t in try store.outbox.resume(.lane("a"), in: &t) }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["2", "3", "4"])
  }

  @Test func aResumeWakesTheDrain() async throws {
    let store = try open()
    try store.enqueue(["1"])
    try await store.write { t in try store.outbox.pause(.all, in: &t) }
    let events = store.outbox.events()
    let drain = Task {
      try await store.outbox.drain(with: ScriptedSender(), options: .init(goal: .forever, pollInterval: nil))
    }
    try await store.write { t in try store.outbox.resume(.all, in: &t) }
    for await event in events {
      if case .delivered = event { break }
    }
    drain.cancel()
    #expect(try await drain.value.delivered == 1)
  }
}
