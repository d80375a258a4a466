import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Optimistic fields of requests, from the outbox to the record or back.
@Suite struct OptimisticTests {
  private let fixture = StateFixture()
  private var path: String { fixture.path }

  private static func request(_ text: String, lane: String = "lane", _ policy: OptimisticPolicy = .fold)
    -> OutboxRequest
  {
    var request = OutboxRequest(
      kind: "like", lane: lane, payload: Array(text.utf8),
      optimistic: ["post:1": ["isLiked": true, "by": .string(text)], "user:1": ["last": .string(text)]])
    request.optimisticPolicy = policy
    return request
  }

  @Test func deliveredRequestsKeepWhatTheyPromised() async throws {
    let store = try fixture.open()
    try store.update("post:1", ["by": "nobody", "title": "t"])
    try store.commit { try store.outbox.enqueue(Self.request("a"), in: &$0) }
    let promised: FieldMap = ["by": "a", "title": "t", "isLiked": true]
    #expect(try store.state.merged(["post:1"]) == promised)
    try store.state.verify()
    try await store.outbox.drain(with: ScriptedSender())
    #expect(try store.state.merged(["post:1"]) == promised)
    #expect(try store.state.merged(["user:1"]) == ["last": "a"])
    try store.state.verify()
  }

  /// As many fields as a record can have but one.
  private static let crowd = FieldMap(sorted: (0..<65_534).map { FieldMap.Field(String(10_000_000 + $0), true) })

  @Test func aPromiseThatCouldNeverBeKeptIsRefused() throws {
    let store = try fixture.open()
    try store.update("post:1", FieldChanges(Self.crowd))
    let error = #expect(throws: StoreError.self) {
      try store.commit { try store.outbox.enqueue(Self.request("a"), in: &$0) }
    }
    #expect(error?.code == .invalidValue && error?.message.contains("post:1 with 65536 fields") == true)
    #expect(try store.outbox.counts().pending == 0)
  }

  @Test func aPromiseThatHasLostItsRoomHoldsItsRequestUntilThereIsSome() async throws {
    let store = try fixture.open()
    try store.commit { try store.outbox.enqueue(Self.request("a"), in: &$0) }
    try store.update("post:1", FieldChanges(Self.crowd))
    #expect(try await store.outbox.drain(with: ScriptedSender()).held == 1)
    let reason = try store.outbox.pendingEntries(limit: 1)[0].lastError
    #expect(!reason.contains("hook") && reason.contains("no room in the state record post:1"), "\(reason)")
    #expect(try store.state.withMerged(["post:1"]) { try $0.bool("isLiked") } == true, "it is still promised")
    try store.commit { try store.state.remove(fields: ["10000000"], of: "post:1", in: &$0) }
    #expect(try await store.outbox.drain(with: ScriptedSender()).delivered == 1)
    #expect(try store.state.withMerged(["post:1"]) { try $0.bool("isLiked") } == true)
    try store.state.verify()
  }

  @Test func aPromiseOverADamagedRecordCanBeTakenBack() async throws {
    let store = try fixture.open()
    let id = try store.commit { try store.outbox.enqueue(Self.request("a"), in: &$0) }
    let records = try store.environment.database("state.record")
    try store.commit { t in try t.set([9], forKey: Array("post:1".utf8), in: records) }
    #expect(try await store.outbox.drain(with: ScriptedSender()).held == 1)
    #expect(try store.outbox.pendingEntries(limit: 1)[0].lastError.contains("post:1 cannot be read"))
    try store.commit { t in
      _ = try store.outbox.cancel(.entry(id), in: &t)
      _ = try store.state.remove("post:1", in: &t)
    }
    #expect(try store.outboxRows().isEmpty)
    #expect(try store.state.merged(["post:1"]).isEmpty)
    try store.state.verify()
  }

  @Test func aPromiseThatCannotBeReadCanBeTakenBack() async throws {
    let store = try fixture.open()
    let ids = try ["a", "b"].map { text in
      try store.commit { try store.outbox.enqueue(Self.request(text, lane: text), in: &$0) }
    }
    let layers = store.outbox.layers
    try store.commit { t in
      try t.set([9], forKey: layers.layerKey("post:1", ids[0].rawValue), in: layers.layers)
      try t.remove(layers.layerKey("user:1", ids[0].rawValue), in: layers.layers)
    }
    let error = #expect(throws: StoreError.self) { try store.state.merged(["post:1"]) }
    #expect(
      error?.message.contains("outbox entry 1 cannot be read") == true && error?.message.contains("cancel it") == true)
    _ = try await store.outbox.drain(with: ScriptedSender())
    #expect(try store.outbox.pendingEntries(limit: 9).map(\.id) == ids, "nothing is folded over what nobody knows")
    try store.commit { _ = try store.outbox.cancel(.entry(ids[0]), in: &$0) }
    #expect(try store.state.merged(["post:1"])["by"] == "b")
    #expect(try await store.outbox.drain(with: ScriptedSender()).delivered == 1)
    #expect(try store.state.merged(["post:1"])["by"] == "b")
    try store.state.verify()
  }

  @Test func failedRequestsTakeBackWhatTheyPromisedEachAlone() async throws {
    let store = try fixture.open()
    try store.update("post:1", ["by": "nobody"])
    try store.commit { t in
      for (text, lane) in [("a", "1"), ("b", "2"), ("c", "3")] {
        try store.outbox.enqueue(Self.request(text, lane: lane), in: &t)
      }
    }
    #expect(try store.state.merged(["post:1"]) == ["by": "c", "isLiked": true])
    let sender = ScriptedSender { entry, _ in
      entry.text == "b" ? .delivered(reply: []) : .permanent(reason: "no")
    }
    try await store.outbox.drain(with: sender)
    #expect(try store.state.merged(["post:1"]) == ["by": "b", "isLiked": true])
    #expect(try store.state.merged(["user:1"]) == ["last": "b"])
    try store.state.verify()
  }

  @Test func aHookStoresTheServersAnswerInstead() async throws {
    let store = try fixture.open()
    try store.commit { try store.outbox.enqueue(Self.request("a", .drop), in: &$0) }
    let hooks = OutboxHooks(onCommit: { _, _, t in
      let seen = try store.state.merged(["post:1"], in: t)
      #expect(seen.isEmpty, "the promise is gone before the hook runs")
      try store.state.update("post:1", ["isLiked": true, "by": "server"], in: &t)
    })
    try await store.outbox.drain(with: ScriptedSender(), hooks: hooks)
    #expect(try store.state.merged(["post:1", "user:1"]) == ["isLiked": true, "by": "server"])
    try store.state.verify()
  }

  @Test func anInvalidPromiseIsRefused() throws {
    let store = try fixture.open()
    var request = Self.request("a")
    request.optimistic["no colon"] = ["a": 1]
    #expect { try store.commit { try store.outbox.enqueue(request, in: &$0) } } throws: {
      ($0 as? StoreError)?.code == .invalidKey
    }
    #expect(try store.state.merged(["post:1"]).isEmpty)
    try store.state.verify()
  }

  enum Step: String, CaseIterable, Codable, Sendable {
    case inEnqueue, afterEnqueue, inSend, inSettle, afterSettle, inRollback, afterRollback
  }

  /// SIGKILL, from inside: nothing of the process runs after it.
  private static func die() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }

  private static func drain(_ store: Store, dyingAt step: Step?) async throws {
    let fails = step == .inRollback || step == .afterRollback
    let sender = ScriptedSender { _, _ in
      if step == .inSend { die() }
      return fails ? .permanent(reason: "no") : .delivered(reply: [])
    }
    let hooks = OutboxHooks(
      onCommit: { _, _, t in
        if step == .inSettle { die() }
        if step == .afterSettle { t.afterCommit { die() } }
      },
      onRollback: { _, _, t in
        if step == .inRollback { die() }
        if step == .afterRollback { t.afterCommit { die() } }
      })
    try await store.outbox.drain(with: sender, hooks: hooks)
  }

  @Test(arguments: Step.allCases) func layersAndEntriesAgreeAfterAKill(at step: Step) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Step] in
      let store = try Store.open(at: path)
      try store.update("post:1", ["by": "nobody"])
      try store.commit { t in
        try store.outbox.enqueue(Self.request("a"), in: &t)
        if step == .inEnqueue { Self.die() }
      }
      if step == .afterEnqueue { Self.die() }
      try await Self.drain(store, dyingAt: step)
    }
    let store = try Store.open(at: path)
    try store.state.verify()
    let fields = try store.state.merged(["post:1", "user:1"])
    let pending = try store.outbox.pendingEntries(limit: 10)
    let promised: FieldMap = ["by": "a", "isLiked": true, "last": "a"]
    switch step {
    case .inEnqueue: #expect(fields == ["by": "nobody"] && pending.isEmpty)
    case .afterEnqueue, .inSend, .inSettle, .inRollback: #expect(fields == promised && pending.count == 1)
    case .afterSettle: #expect(fields == promised && pending.isEmpty)
    case .afterRollback: #expect(fields == ["by": "nobody"] && pending.isEmpty)
    }
    try await Self.drain(store, dyingAt: nil)
    let isDelivered = step != .inEnqueue && step != .afterRollback
    #expect(try store.state.merged(["post:1", "user:1"]) == (isDelivered ? promised : ["by": "nobody"]))
    try store.state.verify()
    #expect(try store.read { t in try t.count(of: store.state.layers.layers) } == 0)
  }
}
