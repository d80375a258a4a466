import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct GateTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  private let slow = Outbox.DrainOptions(goal: .idle, concurrency: 4, pollInterval: nil)

  @Test("T5: a host that asks for a pause gets it from all its entries, and no other host waits")
  func aHostsPauseIsKeptByAllItsEntries() async throws {
    let store = try open()
    for n in 1...5 { try store.enqueue("a\(n)", lane: "a\(n)") { $0.host = "a.example" } }
    for n in 1...5 { try store.enqueue("b\(n)", lane: "b\(n)") { $0.host = "b.example" } }
    let start = time.time.now()
    let sent = Monitor<[(String, Int64)]>([])
    let sender = ScriptedSender { [time] entry, _ in
      let now = time.time.now() - start
      sent.update { $0.append((entry.text, now)) }
      if entry.host == "a.example" && now < 120_000 {
        return .postponed(reason: "http 429", closing: .host, retryAfter: .seconds(120))
      }
      return .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender, options: slow)
    #expect(report.delivered == 10 && report.died == 0)
    let early = sent.update { $0 }.filter { $0.1 < 120_000 }
    #expect(early.count { $0.0.hasPrefix("a") } <= 4, "only those that were in flight together")
    #expect(early.count { $0.0.hasPrefix("b") } == 5)
    let late = sent.update { $0 }.first { $0.1 >= 120_000 }
    #expect(late.map { $0.1 <= 132_000 } == true, "at most a tenth longer")
    #expect(try store.outbox.closedGates().isEmpty)
  }

  @Test(
    "T5: what a Retry-After may be",
    arguments: [
      (Duration.seconds(60), 60_000...66_000), (.seconds(-5), 0...0),
      (.seconds(1_000_000_000_000), 86_400_000...95_040_000),
      (.zero, 0...0),
    ] as [(Duration, ClosedRange<Int64>)])
  func pausesAreBounded(_ pause: Duration, _ expected: ClosedRange<Int64>) {
    for seed in 0..<50 as Range<UInt64> {
      var random = Seeded(seed)
      var gate = Gate(name: "h")
      gate.close(at: 1000, atLeast: pause, RetrySchedule(), using: &random)
      #expect(expected.contains(gate.until - 1000))
    }
  }

  @Test func aPostponedEntryIsNotPunished() async throws {
    let store = try open()
    try store.enqueue("1") { $0.host = "h" }
    let sender = ScriptedSender { _, count in
      count <= 100 ? .postponed(reason: "http 503", closing: .host) : .delivered(reply: [])
    }
    var options = slow
    options.schedule.maxAttempts = 2
    #expect(try await store.outbox.drain(with: sender, options: options).delivered == 1)
    #expect(sender.sent.count == 101)
  }

  @Test("T7: behind a closed gate one entry tries at a time, and its success opens it for all")
  func aHalfOpenGateLetsOneThrough() async throws {
    let store = try open()
    for n in 1...20 { try store.enqueue("\(n)", lane: "\(n)") { $0.host = "h" } }
    let start = time.time.now()
    let inFlight = Monitor((now: 0, most: 0))
    let sender = ScriptedSender { [time] _, _ in
      let isCaptive = time.time.now() - start < 30_000
      inFlight.update { state in
        state.now += 1
        if isCaptive && time.time.now() > start { state.most = max(state.most, state.now) }
      }
      await Task.yield()
      inFlight.update { $0.now -= 1 }
      return isCaptive ? .postponed(reason: "a page of HTML", closing: .host) : .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender, options: slow)
    #expect(report.delivered == 20 && report.died == 0)
    #expect(inFlight.update { $0.most } == 1)
  }

  @Test func refusedCredentialsStopTheirEntriesUntilTheyAreRenewed() async throws {
    let store = try open()
    for n in 1...3 { try store.enqueue("a\(n)", lane: "a\(n)") { $0.credentials = "alice" } }
    try store.enqueue("b", lane: "b") { $0.credentials = "bob" }
    let isValid = Monitor(false)
    let sender = ScriptedSender { entry, _ in
      entry.credentials == "bob" || isValid.update { $0 }
        ? .delivered(reply: []) : .postponed(reason: "http 401", closing: .credentials, retryAfter: .seconds(3600))
    }
    var options = slow
    options.goal = .once
    options.concurrency = 1
    let report = try await store.outbox.drain(with: sender, options: options)
    #expect(report.delivered == 1 && sender.sent.map(\.text).sorted() == ["a1", "b"])
    #expect(try store.outbox.closedGates().map(\.name) == ["alice"])
    isValid.update { $0 = true }
    #expect(try await store.outbox.drain(with: sender, options: options).delivered == 0, "nobody has said so yet")
    try await store.write { t in try store.outbox.open(.credentials, named: "alice", in: &t) }
    #expect(try await store.outbox.drain(with: sender, options: options).delivered == 3)
  }

  @Test func aGateOutlivesTheProcess() async throws {
    let path = "\(directory.path)/store"
    do {
      let store = try open()
      try store.enqueue("1") { $0.host = "h" }
      let sender = ScriptedSender { _, _ in
        .postponed(reason: "http 503", closing: .host, retryAfter: .seconds(600))
      }
      try await store.outbox.drain(with: sender, options: .init(goal: .once))
    }
    let store = try Store.open(at: path, time: time.time)
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.isEmpty)
    time.pass(.seconds(700))
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.count == 1)
  }

  @Test func damagedGatesAreOpen() async throws {
    let store = try open()
    try store.enqueue("1") { $0.host = "h" }
    try await store.write { t in
      let key: [UInt8] = [1] + SipHash.hash128("h").array
      try t.set([7], forKey: key, in: store.environment.database("outbox.gate"))
    }
    #expect(try await store.outbox.drain(with: ScriptedSender()).delivered == 1)
  }
}
