import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct OutboxTests {
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

  @Test func anInterruptedAttemptDoesNotCountTowardsGivingUp() throws {
    var random = SystemRandomNumberGenerator()
    var state = DeliveryState(notBefore: 0)
    let schedule = RetrySchedule(maxAttempts: 2)
    for _ in 0..<100 {
      state.claim(epoch: 1)
      #expect(state.settle(.interrupted, at: 5, schedule, using: &random) == .retry(at: 5))
      state.claim(epoch: 2)
      state.recover(at: 6)
    }
    #expect(state.attempts == 200, "each may have reached the server")
    state.claim(epoch: 3)
    guard case .retry = state.settle(.transient(reason: "x"), at: 7, schedule, using: &random) else {
      return #expect(Bool(false), "the first real failure of two")
    }
    state.claim(epoch: 3)
    guard case .bury = state.settle(.transient(reason: "x"), at: 8, schedule, using: &random) else {
      return #expect(Bool(false), "the second")
    }
    #expect(try DeliveryState(decoding: state.encoded.span) == state)
  }

  @Test(
    arguments: [
      ("outbox.due", [UInt8](repeating: 0, count: 15) + [1]),
      ("outbox.due", [UInt8](repeating: 255, count: 8) + [0, 0, 0, 0, 0, 0, 0, 1]),
      ("outbox.due", [0]), ("outbox.due", [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 99]),
      ("outbox.run", [1, 2]),
      ("outbox.lane", [3]),
    ] as [(String, [UInt8])])
  func strayRowsSendNothingTwice(_ name: String, _ key: [UInt8]) async throws {
    let store = try open()
    try store.enqueue(["1", "2"], lane: "a")
    try await store.write { t in
      try t.set([], forKey: key, in: store.environment.database(name))
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.map(\.text) == ["1", "2"])
  }

  @Test func aCounterAtItsEndIsATypedError() async throws {
    let store = try open()
    try await store.write { t in
      for name in ["sequence", "epoch"] { try store.outbox.meta.set(name, to: .max, in: &t) }
    }
    #expect { try store.enqueue(["1"]) } throws: { ($0 as? StoreError)?.code == .corruptRecord }
    await #expect { try await store.outbox.drain(with: ScriptedSender()) } throws: {
      ($0 as? StoreError)?.code == .corruptRecord
    }
  }

  @Test func anEntryThatIsGoneIsListedAndCounted() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2"])
    try await store.write { t in
      try t.remove(ids[0].key, in: store.environment.database("outbox.entry"))
    }
    #expect(try await store.outbox.drain(with: ScriptedSender()).held == 1)
    #expect(try store.outbox.counts().pending == 2)
    #expect(try store.outbox.pendingEntries(limit: 9).map(\.phase) == [.held, .waiting])
  }

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
      entry.text == "x" ? .notSent(reason: "offline") : .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender, options: .init(goal: .once, concurrency: 1))
    #expect(report.delivered == 3 && report.retrying == 1)
    #expect(try store.outbox.counts().pending == 2)
    #expect(try await store.outbox.drain(with: ScriptedSender(), options: .init(goal: .idle)).delivered == 2)
  }

  @Test func anAttachmentBelongsToOneRequest() async throws {
    let store = try open()
    let file = try store.outbox.stage([1], name: "a.png", mediaType: "image/png")
    let request = OutboxRequest(kind: "k", lane: "l", payload: [], attachments: [file])
    func enqueue(_ count: Int) throws {
      try store.write { t in
        for _ in 0..<count { try store.outbox.enqueue(request, in: &t) }
      }
    }
    #expect { try enqueue(2) } throws: { ($0 as? StoreError)?.code == .invalidValue }
    try enqueue(1)
    #expect { try enqueue(1) } throws: { ($0 as? StoreError)?.code == .invalidValue }
    try await store.outbox.drain(with: ScriptedSender())
    #expect { try enqueue(1) } throws: { ($0 as? StoreError)?.code == .invalidValue }
  }

  @Test func aSettleThatIsTakenBackKeepsTheFiles() async throws {
    struct Refusal: Error {}
    let store = try open()
    let file = try store.outbox.stage([1, 2], name: "a.png", mediaType: "image/png")
    try await store.write { t in
      _ = try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: [], attachments: [file]), in: &t)
    }
    let sizes = Monitor<[Int]>([])
    let sender = ScriptedSender { entry, _ in
      let size = try File(entry.attachments[0].path, .read).size()
      sizes.update { $0.append(size) }
      return .delivered(reply: [])
    }
    let hooks = OutboxHooks(onCommit: { _, _, _ in throw Refusal() })
    #expect(try await store.outbox.drain(with: sender, hooks: hooks).held == 1)
    #expect(try await store.outbox.drain(with: sender).delivered == 1)
    #expect(sizes.update { $0 } == [2, 2])
    #expect(try FileSystem.names(in: "\(directory.path)/store/attachments").isEmpty)
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

  @Test func attemptsThatSurelyDidNotReachTheServerAreNotCounted() async throws {
    let store = try open()
    try store.enqueue(["1"])
    let sender = ScriptedSender { _, count in count <= 40 ? .notSent(reason: "offline") : .delivered(reply: []) }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.count == 41)
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func givesUpAfterTheLastAttempt() async throws {
    let store = try open()
    try store.enqueue(["1", "2"])
    let sender = ScriptedSender { entry, _ in
      entry.text == "1" ? .transient(reason: "http 500") : .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender, options: .init(schedule: RetrySchedule(maxAttempts: 5)))
    #expect(sender.sent.map(\.text) == ["1", "1", "1", "1", "1", "2"])
    #expect(try store.outboxRows() == ["outbox.dead": 1])
    let letters = try store.outbox.deadEntries(limit: 10)
    #expect(letters.map(\.attempts) == [5] && letters[0].reason.contains("http 500"))
  }

  @Test func theServersPauseIsKept() async throws {
    let store = try open()
    try store.enqueue(["1"])
    let start = time.time.now()
    let sent = Monitor<[Int64]>([])
    let sender = ScriptedSender { [time] _, count in
      sent.update { $0.append(time.time.now() - start) }
      return count == 1 ? .transient(reason: "http 503", retryAfter: .seconds(120)) : .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender, options: .init(pollInterval: .seconds(10_000)))
    let times = sent.update { $0 }
    #expect(times.count == 2 && times[1] >= 120_000)
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
    var events: [OutboxEvent] = []
    let first = try store.write { t in
      let epoch = try store.outbox.recover(in: &t)
      return try store.outbox.claim(limit: 1, dueBy: .max, epoch: epoch, &events, in: &t)[0]
    }
    let second = try store.write { t in
      let epoch = try store.outbox.recover(in: &t)
      return try store.outbox.claim(limit: 1, dueBy: .max, epoch: epoch, &events, in: &t)[0]
    }
    let late = try store.write { t in
      try store.outbox.settle(first, .delivered(reply: []), RetrySchedule(), OutboxHooks(), in: &t)
    }
    #expect(late == nil)
    #expect(try store.outboxRows()["outbox.entry"] == 1)
    let current = try store.write { t in
      try store.outbox.settle(second, .delivered(reply: []), RetrySchedule(), OutboxHooks(), in: &t)
    }
    #expect(current == .delivered(second.entry.id))
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func anEntryThatCannotBeReadIsHeldAndOthersGoOn() async throws {
    let store = try open()
    try store.enqueue(["1"], lane: "a")
    try store.enqueue(["2"], lane: "b")
    try await store.write { t in
      let entries = try store.environment.database("outbox.entry")
      try t.set([9, 9, 9], forKey: EntryID(rawValue: 1).key, in: entries)
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["2"])
    #expect(try store.outboxRows()["outbox.state"] == 1)
  }

  /// Whatever stands in the outbox's databases, a drain ends, and sends what can be read.
  @Test(arguments: Outbox.databases.filter { $0 != "outbox.meta" }, [[], [9], [UInt8](repeating: 255, count: 60)])
  func damagedRowsHoldUpNobodyElse(_ name: String, _ garbage: [UInt8]) async throws {
    let store = try open()
    try store.enqueue(["1"], lane: "a")
    try store.enqueue(["2"], lane: "b")
    let hasDamage = try await store.write { t in
      let database = try store.environment.database(name)
      var keys: [[UInt8]] = []
      do {
        var cursor = try t.cursor(in: database)
        while try cursor.next() { keys.append([UInt8](copying: cursor.key)) }
      }
      guard let first = keys.first else { return false }
      try t.set(garbage, forKey: first, in: database)
      return true
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text).contains("2"))
    if hasDamage, ["outbox.entry", "outbox.state"].contains(name) {
      let held = try store.outbox.pendingEntries(limit: 10)
      #expect(held.map(\.id.rawValue) == [1] && held.map(\.phase) == [.held])
    } else {
      #expect(sender.sent.count == 2)
    }
  }

  @Test(arguments: [
    Duration.zero, .seconds(-5), .seconds(Int64.max), .seconds(Int64.min), .nanoseconds(1), .seconds(1e18),
  ])
  func extremeDurationsAreBounded(_ duration: Duration) {
    var random = SystemRandomNumberGenerator()
    let schedule = RetrySchedule(base: duration, cap: duration, floor: duration, maxAttempts: .max)
    for n in [Int.min, 0, 1, 2, 70_000] {
      let delay = schedule.delay(afterFailure: n, using: &random)
      #expect(delay >= .zero && delay <= Duration.longestWait)
    }
    var state = DeliveryState(notBefore: .max)
    state.claim(epoch: .max)
    let action = state.settle(.transient(reason: "r", retryAfter: duration), at: 1000, schedule, using: &random)
    guard case .retry(let date) = action else { return #expect(Bool(false)) }
    #expect(date >= 1000)
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
