import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct HookTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func hooksChangeTheStoreInTheSettleTransaction() async throws {
    let store = try open()
    try store.enqueue(["good"], lane: "a")
    try store.enqueue(["bad"], lane: "b")
    let sender = ScriptedSender { entry, _ in
      entry.text == "good" ? .delivered(reply: [7]) : .permanent(reason: "http 400")
    }
    let state = store.state
    let hooks = OutboxHooks(
      onCommit: { entry, reply, t in
        try state.update("post:1", ["reply": .bytes(reply), entry.text: true], in: &t)
      },
      onRollback: { entry, reason, t in try state.update("post:2", ["why": .string(reason)], in: &t) })
    try await store.outbox.drain(with: sender, hooks: hooks)
    #expect(try state.merged(["post:1"]) == ["reply": .bytes([7]), "good": true])
    #expect(try state.merged(["post:2"]) == ["why": "http 400"])
    #expect(try store.outboxRows() == ["outbox.dead": 1])
  }

  @Test func aHookThatThrowsTakesBackItsChangesAndIsTriedThreeTimes() async throws {
    struct Refusal: Error {}
    let store = try open()
    try store.enqueue(["1", "2"], lane: "a")
    try store.enqueue(["x"], lane: "b")
    let calls = Monitor(0)
    let state = store.state
    let hooks = OutboxHooks(onCommit: { entry, _, t in
      try state.update(StateKey(type: "seen", id: entry.text), ["yes": true], in: &t)
      if entry.text == "1" {
        calls.update { $0 += 1 }
        throw Refusal()
      }
    })
    let events = Monitor<[OutboxEvent]>([])
    let sender = ScriptedSender()
    try await store.outbox.drain(
      with: sender, hooks: hooks, options: .init(onEvent: { event in events.update { $0.append(event) } }))
    #expect(calls.update { $0 } == 3)
    #expect(
      sender.sent.map(\.text).sorted() == ["1", "x"], "a held head keeps its lane waiting, and is not sent again")
    #expect(try state.merged(["seen:1"]).isEmpty)
    #expect(try state.merged(["seen:x"]) == ["yes": true])
    #expect(events.update { $0 }.contains { if case .held(let id, _) = $0 { id.rawValue == 1 } else { false } })
  }

  @Test func aFailingHookWithAStoresErrorHoldsItsEntryAlone() async throws {
    let store = try open()
    try store.enqueue(["1"], lane: "a")
    try store.enqueue(["2"], lane: "b")
    let hooks = OutboxHooks(onCommit: { entry, _, _ in
      if entry.text == "1" { throw StoreError(.diskFull, "The disk of another store is full.") }
    })
    let report = try await store.outbox.drain(with: ScriptedSender(), hooks: hooks)
    #expect(report.held == 1 && report.delivered == 1)
  }

  @Test func aHookThatThrowsOnceRunsItsEffectsOnce() async throws {
    struct Refusal: Error {}
    let store = try open()
    try store.enqueue(["1"])
    let calls = Monitor(0)
    let state = store.state
    let hooks = OutboxHooks(onCommit: { _, _, t in
      let count = try state.merged(["count:x"], in: t.reader)["n"]?.intValue ?? 0
      try state.update("count:x", ["n": .int(count + 1)], in: &t)
      if calls.update({ calls in
        calls += 1
        return calls == 1
      }) {
        throw Refusal()
      }
    })
    try await store.outbox.drain(with: ScriptedSender(), hooks: hooks)
    #expect(try state.merged(["count:x"]) == ["n": 1])
    #expect(try store.outboxRows().isEmpty)
  }
}
