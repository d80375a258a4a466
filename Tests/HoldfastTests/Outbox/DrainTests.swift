import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct DrainTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func theNextDrainTriesWhatWasHeld() async throws {
    struct Refusal: Error {}
    let store = try open()
    let ids = try store.enqueue(["1", "2"])
    let sender = ScriptedSender()
    let report = try await store.outbox.drain(
      with: sender, hooks: OutboxHooks(onCommit: { _, _, _ in throw Refusal() }))
    #expect(report.held == 1 && report.delivered == 0)
    #expect(try store.outbox.pendingEntries(limit: 9).map(\.phase) == [.held, .waiting])
    #expect(try await store.outbox.drain(with: sender).delivered == 2)
    #expect(sender.sent.map(\.id) == [ids[0], ids[0], ids[1]])
    #expect(Set(sender.sent.map(\.idempotencyKey)).count == 2)
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func oncePassesThroughTheLanesAndLeavesTheFailures() async throws {
    let store = try open()
    try store.enqueue(["1", "2", "3"], lane: "a")
    try store.enqueue(["x", "y"], lane: "b")
    let sender = ScriptedSender { entry, _ in
      entry.text == "x" ? .notSent(reason: "offline", closing: nil) : .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender, options: .init(goal: .once, concurrency: 1))
    #expect(report.delivered == 3 && report.retrying == 1)
    #expect(try store.outbox.counts().pending == 2)
    #expect(try await store.outbox.drain(with: ScriptedSender(), options: .init(goal: .idle)).delivered == 2)
  }

  @Test func anEntryEnqueuedDuringADrainIsSentByIt() async throws {
    let store = try open()
    try store.enqueue(["1"])
    let sender = ScriptedSender { entry, _ in
      if entry.text == "1" { try store.enqueue(["2"], lane: "other") }
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1", "2"])
  }

  @Test func oneDrainAtATime() async throws {
    let store = try open()
    try store.enqueue(["1"])
    let refusal = Monitor<StoreError?>(nil)
    let sender = ScriptedSender { _, _ in
      do { try await store.outbox.drain(with: ScriptedSender()) } catch let error as StoreError {
        refusal.update { $0 = error }
      }
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender)
    #expect(refusal.update { $0?.code } == .busy)
    try await store.outbox.drain(with: sender)
  }

  @Test func cancellingADrainSettlesWhatIsInFlight() async throws {
    let store = try open()
    try store.enqueue(["1", "2"])
    let (started, signal) = AsyncStream<Void>.makeStream()
    let sender = ScriptedSender { entry, _ in
      signal.yield()
      while !Task.isCancelled { await Task.yield() }
      return .delivered(reply: [])
    }
    let drain = Task { try await store.outbox.drain(with: sender, options: .init(goal: .forever)) }
    for await _ in started { break }
    drain.cancel()
    _ = try await drain.value
    #expect(sender.sent.map(\.text) == ["1"])
    #expect(try store.outbox.pendingEntries(limit: 10).map { try $0.entry.get().text } == ["2"])
  }

  @Test func aLateOutcomeIsFencedOff() throws {
    let store = try open()
    try store.enqueue(["1"])
    let first = try #require(try store.claimAnew())
    let second = try #require(try store.claimAnew())
    try store.settle(first, .delivered(reply: []))
    #expect(try store.outboxRows()["outbox.entry"] == 1)
    #expect(try store.journal().last?.kind == .late)
    try store.settle(second, .delivered(reply: []))
    #expect(try store.outboxRows().isEmpty)
  }
}
