import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct DecisionTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test(
    "T18: what is cancelled before it is sent is never sent",
    arguments: [
      .entry(EntryID(rawValue: 2)), .key("k"), .lane("b"),
    ] as [OutboxSelection])
  func whatIsCancelledIsNeverSent(_ selection: OutboxSelection) async throws {
    let store = try open()
    try store.enqueue(["1"], lane: "a")
    let file = try store.outbox.stage([1], name: "a", mediaType: "b")
    try store.enqueue("2", lane: "b") { ($0.key, $0.attachments) = ("k", [file]) }
    try store.enqueue("3", lane: "a") { $0.queue = "k" }
    let count = try await store.write { t in
      try store.state.update("post:1", ["isDeleted": true], in: &t)
      return try store.outbox.cancel(selection, in: &t)
    }
    #expect(count == 1)
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1", "3"])
    #expect(try store.journal().filter { $0.kind == .cancelled }.map(\.entry.rawValue) == [2])
    #expect(try store.outboxRows().isEmpty)
    #expect(try FileSystem.names(in: "\(directory.path)/store/attachments").isEmpty)
  }

  @Test("T18: cancelling an attempt in flight cancels its task, and no other")
  func cancellingInFlight() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2"], lane: "a")
    try store.enqueue(["x"], lane: "b")
    let (started, signal) = AsyncStream<String>.makeStream()
    let release = Monitor(false)
    let sender = ScriptedSender { entry, _ in
      signal.yield(entry.text)
      switch entry.text {
      case "1":
        while !Task.isCancelled { await Task.yield() }
        return .interrupted
      case "x":
        while !release.update({ $0 }) { await Task.yield() }
        return Task.isCancelled ? .permanent(reason: "was cancelled") : .delivered(reply: [])
      default: return .delivered(reply: [])
      }
    }
    let rolledBack = Monitor(false)
    let hooks = OutboxHooks(onRollback: { _, _, _ in rolledBack.update { $0 = true } })
    let drain = Task { try await store.outbox.drain(with: sender, hooks: hooks, options: .init(pollInterval: nil)) }
    var seen: Set<String> = []
    for await text in started {
      seen.insert(text)
      if seen.isSuperset(of: ["1", "x"]) { break }
    }
    #expect(try await store.write { t in try store.outbox.cancel(.entry(ids[0]), in: &t) } == 1)
    for await text in started where text == "2" { break }
    release.update { $0 = true }
    let report = try await drain.value
    #expect(report.cancelled == 1 && report.delivered == 2 && report.died == 0)
    #expect(try store.journal().first { $0.kind == .cancelled }?.attempt == 1, "the server may have it")
    #expect(!rolledBack.update { $0 })
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func attemptsAreCancelledThoughNobodyCanReadHowOftenThatWasAsked() async throws {
    let store = try open()
    let ids = try store.enqueue(["1"])
    try await store.write { t in try t.set([9], forKey: "cancellations", in: store.outbox.metaRows) }
    let (started, signal) = AsyncStream<Void>.makeStream()
    let sender = ScriptedSender { _, _ in
      signal.yield()
      while !Task.isCancelled { await Task.yield() }
      return .interrupted
    }
    let drain = Task { try await store.outbox.drain(with: sender, options: .init(pollInterval: nil)) }
    for await _ in started { break }
    try await store.write { t in _ = try store.outbox.cancel(.entry(ids[0]), in: &t) }
    #expect(try await drain.value.cancelled == 1)
    #expect(try store.read { t in try store.outbox.cancellations(in: t) } == 1)
  }

  @Test("T18: what was delivered after all is delivered")
  func cancelledTooLate() async throws {
    let store = try open()
    let ids = try store.enqueue(["1"])
    let sender = ScriptedSender { _, _ in
      try await store.write { t in _ = try store.outbox.cancel(.entry(ids[0]), in: &t) }
      return .delivered(reply: [])
    }
    #expect(try await store.outbox.drain(with: sender).delivered == 1)
    #expect(try store.outboxRows().isEmpty)
  }

  @Test("T5: a dead letter can be sent again, under its key and behind its lane")
  func aDeadLetterIsRequeued() async throws {
    let store = try open()
    let file = try store.outbox.stage([1, 2], name: "a", mediaType: "b")
    let id = try store.enqueue("1", lane: "a") { $0.attachments = [file] }
    let strict = ScriptedSender { _, _ in .permanent(reason: "http 400") }
    try await store.outbox.drain(with: strict)
    #expect(try store.outboxRows() == ["outbox.dead": 1, "outbox.attachment": 1])
    try store.enqueue(["2"], lane: "a")
    let new = try await store.write { t in try store.outbox.requeue(id, in: &t) }
    #expect(new > id)
    let sender = ScriptedSender { entry, count in
      entry.text == "1" && count == 1 ? .transient(reason: "http 500") : .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender, options: .init(schedule: RetrySchedule(maxAttempts: 2)))
    #expect(sender.sent.map(\.text) == ["2", "1", "1"], "it has all its attempts before it")
    #expect(sender.sent[1].idempotencyKey == strict.sent[0].idempotencyKey)
    #expect(sender.sent[1].attachments == strict.sent[0].attachments)
    #expect(try store.outboxRows().isEmpty)
    #expect(try FileSystem.names(in: "\(directory.path)/store/attachments").isEmpty)
  }

  @Test func aDeadLetterIsRequeuedWithWhatTheUserIsToSee() async throws {
    let store = try open()
    let promise: [StateKey: FieldChanges] = ["post:1": ["isLiked": true]]
    let id = try store.enqueue("1") { $0.optimistic = promise }
    let strict = ScriptedSender { _, _ in .permanent(reason: "http 400") }
    try await store.outbox.drain(with: strict)
    #expect(try store.state.merged(["post:1"]).isEmpty)
    let second = try await store.write { t in try store.outbox.requeue(id, in: &t) }
    #expect(try store.state.merged(["post:1"]).isEmpty, "nothing comes back unasked")
    try await store.outbox.drain(with: strict)
    try await store.write { t in _ = try store.outbox.requeue(second, optimistic: promise, in: &t) }
    #expect(try store.state.merged(["post:1"]) == ["isLiked": true])
    try store.state.verify()
    try await store.outbox.drain(with: ScriptedSender())
    #expect(try store.state.merged(["post:1"]) == ["isLiked": true])
    try store.state.verify()
  }

  @Test func aDeadLetterIsDiscardedWithItsFiles() async throws {
    let store = try open()
    let file = try store.outbox.stage([1, 2], name: "a", mediaType: "b")
    let id = try store.enqueue("1", lane: "a") { $0.attachments = [file] }
    try await store.outbox.drain(with: ScriptedSender { _, _ in .permanent(reason: "http 400") })
    try await store.write { t in try store.outbox.discard(id, in: &t) }
    #expect(try store.outboxRows().isEmpty)
    #expect(try FileSystem.names(in: "\(directory.path)/store/attachments").isEmpty)
    let again = #expect(throws: StoreError.self) { try store.write { t in try store.outbox.discard(id, in: &t) } }
    #expect(again?.code == .notFound)
  }

  @Test func theEntrysOwnLimitOfAttemptsCounts() async throws {
    let store = try open()
    try store.enqueue("1") { $0.maxAttempts = 2 }
    let sender = ScriptedSender { _, _ in .transient(reason: "http 500") }
    #expect(try await store.outbox.drain(with: sender).died == 1)
    #expect(sender.sent.count == 2)
  }

  @Test func whatIsTooOldIsGivenUpEvenOffline() async throws {
    let store = try open()
    try store.enqueue("1", lane: "a") { $0.maxAge = .seconds(100) }
    try store.enqueue("2", lane: "a") { _ in }
    let state = store.state
    let hooks = OutboxHooks(onRollback: { entry, reason, t in
      try state.update(StateKey(type: "gone", id: entry.text), ["why": .string(reason)], in: &t)
    })
    let sender = ScriptedSender { entry, _ in
      entry.text == "1" ? .notSent(reason: "offline") : .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender, hooks: hooks, options: .init(pollInterval: nil))
    #expect(report.died == 1 && report.delivered == 1)
    #expect(try state.merged(["gone:1"])["why"] != nil)
    #expect(try store.journal().filter { $0.kind == .expired }.map(\.entry.rawValue) == [1])
    #expect(try store.outboxRows() == ["outbox.dead": 1])
  }

  @Test func aHookThatFailsForWhatIsTooOldHoldsIt() async throws {
    struct Refusal: Error {}
    let store = try open()
    try store.enqueue("1") { ($0.maxAge, $0.delay) = (.seconds(1), .seconds(10)) }
    let hooks = OutboxHooks(onRollback: { _, _, _ in throw Refusal() })
    let report = try await store.outbox.drain(with: ScriptedSender(), hooks: hooks, options: .init(pollInterval: nil))
    #expect(report.held == 1 && report.died == 0)
  }
}
