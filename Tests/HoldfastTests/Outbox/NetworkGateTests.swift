import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct NetworkGateTests {
  private let schedule = RetrySchedule()

  @Test("T8: a thousand clients that reconnect at once are spread over the time they have")
  func aHerdIsSpread() {
    var random = Seeded(8)
    let spread = NetworkGate.Spread()
    var buckets: [Int64: Int] = [:]
    for _ in 0..<1000 {
      var gate = NetworkGate(limit: 8)
      gate.heard(isReachable: false, at: 0, spread, using: &random)
      gate.heard(isReachable: true, at: 0, spread, using: &random)
      #expect(gate.window == 1)
      buckets[gate.opening(for: .normal) / 100, default: 0] += 1
      #expect((0...60_000).contains(gate.opening(for: .background)))
    }
    let mean = 1000.0 / 50
    #expect(Double(buckets.values.max()!) <= 3 * mean)
    #expect(buckets.keys.max()! <= 50)
  }

  @Test func theWindowDoublesWithSuccessAndHalvesWithDoubt() {
    var random = Seeded(1)
    var gate = NetworkGate(limit: 8)
    gate.heard(.notSent(reason: "offline"), at: 0, schedule, using: &random)
    var windows = [gate.window]
    for _ in 0..<4 {
      gate.heard(.delivered(reply: []), at: 0, schedule, using: &random)
      windows.append(gate.window)
    }
    gate.heard(.ambiguous(reason: "timed out"), at: 0, schedule, using: &random)
    windows.append(gate.window)
    #expect(windows == [1, 2, 4, 8, 8, 4])
  }

  @Test func aProbeIsMadeThoughTheMonitorSaysOffline() {
    for seed in 0..<100 as Range<UInt64> {
      var random = Seeded(seed)
      var gate = NetworkGate(limit: 8)
      gate.heard(isReachable: false, at: 0, .init(), using: &random)
      #expect((60_000...300_000).contains(gate.opening(for: .high)))
      let opening = gate.opening(for: .high)
      gate.heard(.notSent(reason: "offline"), at: opening, schedule, using: &random)
      #expect((60_000...300_000).contains(gate.opening(for: .high) - opening))
      gate.heard(.delivered(reply: []), at: 0, schedule, using: &random)
      gate.heard(isReachable: false, at: 1_000_000, .init(), using: &random)
      #expect(gate.opening(for: .high) > 1_000_000, "the monitor is believed again")
    }
  }

  @Test func withoutAMonitorFailuresBackOffToFiveMinutes() {
    var random = Seeded(3)
    var gate = NetworkGate(limit: 8)
    var now: Int64 = 0
    for _ in 0..<100 {
      gate.heard(.notSent(reason: "offline"), at: now, schedule, using: &random)
      #expect(gate.opening(for: .normal) - now <= 300_000)
      now = gate.opening(for: .normal)
    }
  }

  @Test func aFailureOfOneEntryClosesNothing() {
    var random = Seeded(4)
    var gate = NetworkGate(limit: 8)
    let before = gate
    for outcome in [
      .notSent(reason: "r", closing: .host), .unsendable(reason: "r"), .interrupted, .transient(reason: "r"),
      .permanent(reason: "r"),
    ] as [SendOutcome] {
      gate.heard(outcome, at: 5, schedule, using: &random)
    }
    gate.heard(isReachable: true, at: 5, .init(), using: &random)
    #expect(gate == before)
  }
}

@Suite struct OfflineTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  /// A monitor that a test speaks for.
  private struct Told: NetworkMonitor {
    let stream: AsyncStream<NetworkStatus>
    let say: AsyncStream<NetworkStatus>.Continuation

    init() { (stream, say) = AsyncStream.makeStream() }

    func statuses() -> AsyncStream<NetworkStatus> { stream }
  }

  @Test func whileThereIsNoNetworkOneEntryTriesAndNobodyIsPunished() async throws {
    let store = try Store.open(at: "\(directory.path)/store", time: time.time)
    for n in 1...50 { try store.enqueue(["\(n)"], lane: "\(n)") }
    let start = time.time.now()
    let sender = ScriptedSender { [time] _, _ in
      time.time.now() - start < 1_000_000 ? .notSent(reason: "offline") : .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender, options: .init(pollInterval: nil))
    #expect(report.delivered == 50)
    #expect(report.retrying < 30, "not each of the entries for each probe: \(report.retrying)")
  }

  @Test func nothingIsTriedBeforeTheMonitorHasSpoken() async throws {
    let store = try Store.open(at: "\(directory.path)/store", time: time.time)
    for n in 1...3 { try store.enqueue(["\(n)"], lane: "\(n)") }
    let monitor = Told()
    monitor.say.yield(NetworkStatus(isReachable: false))
    let start = time.time.now()
    let attempts = Monitor<[Int64]>([])
    let sender = ScriptedSender { [time] _, _ in
      attempts.update { $0.append(time.time.now() - start) }
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender, options: .init(network: monitor, pollInterval: nil))
    let times = attempts.update { $0 }
    #expect(times.count == 3 && times.allSatisfy { $0 >= 60_000 }, "\(times)")
  }

  @Test func aMonitorThatEndsHoldsNothingUp() async throws {
    let store = try Store.open(at: "\(directory.path)/store", time: time.time)
    try store.enqueue(["1"])
    let monitor = Told()
    monitor.say.finish()
    #expect(try await store.outbox.drain(with: ScriptedSender(), options: .init(network: monitor)).delivered == 1)
  }

  @Test func theMonitorsWordIsHeardAtOnce() async throws {
    let store = try Store.open(at: "\(directory.path)/store")
    let monitor = Told()
    monitor.say.yield(NetworkStatus(isReachable: false))
    let sender = ScriptedSender()
    let drain = Task {
      try await store.outbox.drain(with: sender, options: .init(goal: .forever, network: monitor, pollInterval: nil))
    }
    let events = store.outbox.events()
    try store.enqueue(["1"])
    monitor.say.yield(NetworkStatus(isReachable: true))
    for await event in events {
      if case .delivered = event { break }
    }
    drain.cancel()
    #expect(try await drain.value.delivered == 1)
  }
}
