import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct SchedulerTests {
  private func key(_ id: UInt64, _ priority: DeliveryPriority = .normal, due: Int64 = 0, route: UInt64 = 1) -> DueKey {
    DueKey(route: route, priority: priority.rawValue, time: due, id: EntryID(rawValue: id))
  }

  private func line(_ route: UInt64, host: String? = nil, queue: String = "", _ due: [DueKey]) -> Scheduler.Line {
    Scheduler.Line(route: Route(queue: queue, host: host, credentials: nil), number: route, due: due)
  }

  private func ids(_ keys: [DueKey]) -> [UInt64] { keys.map(\.id.rawValue) }

  @Test func theMoreUrgentGoesFirst() {
    var scheduler = Scheduler()
    let due = [key(1, .background), key(2), key(3, .high), key(4)]
    #expect(ids(scheduler.pick(9, from: [line(1, due)], at: 0)) == [3, 2, 4, 1])
  }

  @Test func whoHasWaitedIsMoreUrgent() {
    var scheduler = Scheduler()
    let due = [key(1, .background, due: 0), key(2, .high, due: 1_200_000)]
    #expect(ids(scheduler.pick(1, from: [line(1, due)], at: 1_199_999)) == [2])
    #expect(ids(scheduler.pick(1, from: [line(1, due)], at: 1_200_000)) == [1], "two levels after twenty minutes")
  }

  @Test func routesTakeTurnsAlsoFromCallToCall() {
    var scheduler = Scheduler()
    let lines = [
      line(1, host: "a", (1...9).map { key($0, route: 1) }),
      line(2, host: "b", (11...19).map { key($0, .high, route: 2) }),
      line(3, host: "c", [key(21, route: 3)]),
    ]
    #expect(ids(scheduler.pick(2, from: lines, at: 0)) == [1, 11])
    #expect(ids(scheduler.pick(2, from: lines, at: 0)) == [21, 1])
    #expect(ids(scheduler.pick(6, from: lines, at: 0)) == [11, 21, 1, 12, 2, 13])
  }

  @Test func whatRoutesShareAdmitsOnlySoMany() {
    var scheduler = Scheduler()
    scheduler.allowances = [.host("a"): 1, .queue("q"): 2]
    let lines = [
      line(1, host: "a", [key(1), key(2)]), line(2, host: "a", queue: "q", [key(11), key(12)]),
      line(3, host: "b", queue: "q", [key(21), key(22), key(23)]),
    ]
    #expect(ids(scheduler.pick(9, from: lines, at: 0)) == [1, 21, 22])
  }

  @Test func dueKeysSortAsTheyShould() throws {
    let keys = [
      key(9, .high, due: 5, route: 1), key(1, .normal, due: 1, route: 1), key(2, .normal, due: 1, route: 1),
      key(1, .normal, due: 2, route: 1), key(0, .high, due: 0, route: 2),
    ]
    let sorted = keys.map(\.bytes.array).sorted { $0.lexicographicallyPrecedes($1) }
    #expect(sorted == keys.map(\.bytes.array))
    #expect(keys.allSatisfy { DueKey(bytes: $0.bytes.array.span) == $0 })
  }
}

@Suite struct LimitTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  /// Drains, and says how many attempts of each kind were in flight at once.
  private func most(_ store: Store, _ options: Outbox.DrainOptions) async throws -> [String: Int] {
    let state = Monitor((now: [String: Int](), most: [String: Int]()))
    let sender = ScriptedSender { entry, _ in
      let names = ["all", "host \(entry.host ?? "")", "queue \(entry.queue)", "lane \(entry.lane)"]
      state.update { state in
        for name in names {
          state.now[name, default: 0] += 1
          state.most[name] = max(state.most[name] ?? 0, state.now[name]!)
        }
      }
      for _ in 0..<20 { await Task.yield() }
      state.update { state in
        for name in names { state.now[name]! -= 1 }
      }
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender, options: options)
    return state.update { $0.most }
  }

  @Test func limitsHoldForAllForAHostForAQueueAndForALane() async throws {
    let store = try open()
    for n in 0..<60 {
      try store.enqueue("\(n)", lane: "\(n / 2)") {
        $0.host = "h\(n % 3)"
        $0.queue = n % 5 == 0 ? "uploads" : ""
      }
    }
    let most = try await most(
      store, .init(concurrency: 6, hostConcurrency: 2, queueConcurrency: ["uploads": 1], pollInterval: nil))
    #expect(most["all"]! <= 6 && most["all"]! > 2)
    #expect((0..<3).allSatisfy { most["host h\($0)"]! <= 2 })
    #expect(most["queue uploads"] == 1)
    #expect((0..<30).allSatisfy { most["lane \($0)"] == 1 })
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func aQueueThatMaySendNothingWaitsAlone() async throws {
    let store = try open()
    try store.enqueue("1", lane: "a") { $0.queue = "uploads" }
    try store.enqueue(["2"], lane: "b")
    let report = try await store.outbox.drain(with: ScriptedSender(), options: .init(queueConcurrency: ["uploads": 0]))
    #expect(report.delivered == 1)
    #expect(try store.outbox.counts().pending == 1)
  }

  @Test func requestsWithoutALaneWaitForNobody() async throws {
    let store = try open()
    for n in 1...3 { try store.enqueue("\(n)", lane: nil) { _ in } }
    let sender = ScriptedSender { entry, _ in
      entry.text == "1" ? .transient(reason: "no") : .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(report.delivered == 2 && report.retrying == 1)
  }

  @Test func aDelayHoldsItsLaneAndNoOther() async throws {
    let store = try open()
    try store.enqueue("1", lane: "a") { $0.delay = .seconds(50) }
    try store.enqueue(["2"], lane: "a")
    try store.enqueue(["x"], lane: "b")
    let start = time.time.now()
    let times = Monitor<[String: Int64]>([:])
    let sender = ScriptedSender { [time] entry, _ in
      times.update { $0[entry.text] = time.time.now() - start }
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender, options: .init(pollInterval: nil))
    #expect(times.update { $0 } == ["x": 0, "1": 50_000, "2": 50_000])
  }

  @Test("T10: a hundred lanes run while one is blocked")
  func aBlockedLaneBlocksNoOther() async throws {
    let store = try open()
    try store.enqueue(["head", "behind"], lane: "blocked")
    for n in 0..<100 { try store.enqueue(["x"], lane: "\(n)") }
    let sender = ScriptedSender { entry, _ in
      entry.text == "head" ? .transient(reason: "no") : .delivered(reply: [])
    }
    #expect(try await store.outbox.drain(with: sender, options: .init(goal: .once)).delivered == 100)
  }
}
