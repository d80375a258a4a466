import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct RetryTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func anInterruptedAttemptDoesNotCountTowardsGivingUp() throws {
    var random = SystemRandomNumberGenerator()
    var state = DeliveryState(notBefore: 0)
    let rules = DeliveryState.Rules(schedule: RetrySchedule(maxAttempts: 2))
    for _ in 0..<100 {
      state.claim(epoch: 1)
      #expect(state.settle(.interrupted, at: 5, rules, using: &random) == .retry(at: 5))
      state.claim(epoch: 2)
      #expect(state.recover(at: 6) == (state.phase == .held ? .hold(reason: state.lastError) : .retry(at: 6)))
    }
    #expect(state.attempts == 200, "each may have reached the server")
    state.claim(epoch: 3)
    guard case .retry = state.settle(.transient(reason: "x"), at: 7, rules, using: &random) else {
      return #expect(Bool(false), "the first real failure of two")
    }
    state.claim(epoch: 3)
    guard case .bury = state.settle(.transient(reason: "x"), at: 8, rules, using: &random) else {
      return #expect(Bool(false), "the second")
    }
    #expect(try DeliveryState(decoding: state.encoded.span) == state)
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
    let action = state.settle(
      .transient(reason: "r", retryAfter: duration), at: 1000, DeliveryState.Rules(schedule: schedule), using: &random)
    guard case .retry(let date) = action else { return #expect(Bool(false)) }
    #expect(date >= 1000)
  }
}
