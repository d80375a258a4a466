import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast
@testable import HoldfastHTTP

/// T5 and T7: what the outbox makes of servers that fail, and of what stands between here and them.
@Suite struct HTTPOutboxTests {
  private let directory = TemporaryDirectory()

  private func store(_ clock: ManualClock) throws -> Store {
    try Store.open(at: "\(directory.path)/store", time: clock.time)
  }

  private func enqueue(
    _ store: Store, _ operation: HTTPOperation = HTTPOperation("POST", "p", body: .json("{}")), lane: String = "l"
  ) async throws {
    let request = try OutboxRequest(operation, lane: lane)
    try await store.write { t in _ = try store.outbox.enqueue(request, in: &t) }
  }

  private func options(
    _ goal: Outbox.DrainOptions.Goal = .idle, maxAttempts: Int = 25, concurrency: Int = 4
  ) -> Outbox.DrainOptions {
    Outbox.DrainOptions(
      goal: goal, concurrency: concurrency, schedule: RetrySchedule(maxAttempts: maxAttempts), pollInterval: nil)
  }

  // MARK: T5

  @Test func aServerThatAlwaysFailsIsGivenUpWithItsRollback() async throws {
    let server = try LoopbackServer { _ in .reply(500, [:], Array("oops".utf8)) }
    defer { server.stop() }
    let store = try store(ManualClock(isJumping: true))
    try await enqueue(store)
    let hooks = OutboxHooks(onRollback: { entry, reason, t in
      _ = try store.outbox.meta.increment("rollbacks", in: &t)
    })
    try await store.outbox.drain(with: HTTPSender(baseURL: server.url), hooks: hooks, options: options(maxAttempts: 4))
    #expect(server.received.count == 4)
    #expect(Set(server.received.map { $0.headers["idempotency-key"] }).count == 1)
    let letter = try #require(try store.outbox.deadEntries(limit: 9).first)
    #expect(letter.attempts == 4 && letter.reason.contains("http 500: oops"))
    #expect(try store.read { t in try store.outbox.meta.value("rollbacks", in: t) } == 1)
  }

  @Test func aRefusalForGoodIsTriedOnce() async throws {
    let server = try LoopbackServer { $0.target == "/bad" ? .reply(422) : .reply(200) }
    defer { server.stop() }
    let store = try store(ManualClock(isJumping: true))
    try await enqueue(store, HTTPOperation("POST", "bad"))
    try await enqueue(store, HTTPOperation("POST", "good"))
    try await store.outbox.drain(with: HTTPSender(baseURL: server.url), options: options())
    #expect(server.received.map(\.target) == ["/bad", "/good"], "its lane goes on")
    #expect(try store.outbox.deadEntries(limit: 9).count == 1)
  }

  /// How the first attempt ends.
  enum Loss: String, CaseIterable, Sendable {
    case silenceBeforeTheBody, silenceAfterTheBody, resetAfterTheWork, closedAfterTheWork, halfAReply
  }

  @Test(arguments: Loss.allCases) func aLostReplyIsAskedForAgainUnderTheSameKey(_ loss: Loss) async throws {
    let work = Monitor<[String]>([])
    let requests = Monitor(0)
    func isFirst() -> Bool { requests.update { $0 == 0 } }
    let server = try LoopbackServer(early: { _ in
      guard loss == .silenceBeforeTheBody, requests.update({ $0 == 0 }) else { return nil }
      requests.update { $0 += 1 }
      return .silence
    }) { request in
      let number = requests.update { requests in
        requests += 1
        return requests
      }
      let key = request.headers["idempotency-key"] ?? ""
      work.update { if !$0.contains(key) { $0.append(key) } }
      if number > 1 { return .reply(201) }
      switch loss {
      case .silenceBeforeTheBody, .silenceAfterTheBody: return .silence
      case .resetAfterTheWork: return .reset
      case .closedAfterTheWork: return .close
      case .halfAReply: return .breakOff
      }
    }
    defer { server.stop() }
    let store = try store(ManualClock(isJumping: true))
    try await enqueue(store)
    let sender = try HTTPSender(baseURL: server.url, totalTimeout: .milliseconds(300))
    let report = try await store.outbox.drain(with: sender, options: options(maxAttempts: 3))
    #expect(report.delivered == 1 && work.update { $0.count } == 1 && server.received.count == 2)
    #expect(Set(server.received.map { $0.headers["idempotency-key"] }).count == 1)
    // It counts, since nobody knows.
    let attempts = try store.read { t in try store.outbox.journal.records(after: 0, limit: 99, in: t) }
      .last { $0.kind == .delivered }?.attempt
    #expect(attempts == 2)
  }

  /// A header, the seconds until the next attempt, and whether the attempt counted.
  private static let pauses: [(String, ClosedRange<Double>, Bool)] = [
    ("120", 120...132, false), ("Sun, 06 Nov 1994 08:51:07 GMT", 90...99, false),
    ("1000000000000", 86_400...95_040, false), ("Sun, 06 Nov 2094 08:51:07 GMT", 86_400...95_040, false),
    ("Sun, 06 Nov 1994 08:00:00 GMT", 0.25...2, true), ("-5", 0.25...2, true), ("soon", 0.25...2, true),
  ]

  @Test(arguments: pauses.indices) func aPauseIsKeptAndGarbageIsNone(_ index: Int) async throws {
    let (header, seconds, counts) = Self.pauses[index]
    let clock = ManualClock(isJumping: true)
    let times = Monitor<[Int64]>([])
    let server = try LoopbackServer { _ in
      let count = times.update { times in
        times.append(clock.now)
        return times.count
      }
      if count > 1 { return .reply(200) }
      return .reply(503, ["Retry-After": header, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
    }
    defer { server.stop() }
    let store = try store(clock)
    try await enqueue(store)
    let report = try await store.outbox.drain(
      with: HTTPSender(baseURL: server.url), options: options(maxAttempts: counts ? 2 : 1))
    #expect(report.delivered == 1, "\(header): an attempt that counted was the last")
    let all = times.update { $0 }
    try #require(all.count == 2)
    // A wait is rounded up to whole milliseconds.
    #expect(seconds.lowerBound * 1000 <= Double(all[1] - all[0]), "\(header): \(all)")
    #expect(Double(all[1] - all[0]) <= seconds.upperBound * 1000 + 1, "\(header): \(all)")
  }

  @Test func aHostThatAsksForAPauseStopsNoOther() async throws {
    let isBusy = Monitor(true)
    let busy = try LoopbackServer { _ in isBusy.update { $0 } ? .reply(429, ["Retry-After": "1000"]) : .reply(200) }
    let idle = try LoopbackServer { _ in .reply(200) }
    defer {
      busy.stop()
      idle.stop()
    }
    let clock = ManualClock(isJumping: false)
    let store = try store(clock)
    for number in 0..<4 {
      try await enqueue(store, HTTPOperation("POST", busy.url), lane: "busy \(number)")
      try await enqueue(store, HTTPOperation("POST", idle.url), lane: "idle \(number)")
    }
    let sender = try HTTPSender(baseURL: "http://127.0.0.1:1/")
    let drain = Task { [options = options(concurrency: 1)] in
      try await store.outbox.drain(with: sender, options: options)
    }
    var requests = idle.requests.makeAsyncIterator()
    for _ in 0..<4 { _ = await requests.next() }
    await clock.somebodySleeps(atLeast: .seconds(990))
    #expect(busy.received.count == 1, "the others of the host wait without a request of their own")
    isBusy.update { $0 = false }
    // The pause, and up to a tenth.
    clock.advance(by: .seconds(1101))
    let report = try await drain.value
    #expect(report.delivered == 8 && busy.received.count == 5)
  }

  // MARK: T7

  /// What the network answers before somebody has logged in.
  static let portals: [LoopbackServer.Answer] = [
    .reply(302, ["Location": "http://login.invalid/"]), .reply(307, ["Location": "http://login.invalid/"]),
    .reply(200, ["Content-Type": "text/html"], Array("<p>Log in".utf8)), .reply(511),
  ]

  @Test(arguments: portals.indices) func aCaptivePortalPunishesNoEntry(_ index: Int) async throws {
    let behind = Monitor((now: 0, most: 0, total: 0))
    let server = try LoopbackServer { _ in
      let number = behind.update { state in
        state.now += 1
        state.total += 1
        // Those of the first step may be on their way together.
        if state.total > 4 { state.most = max(state.most, state.now) }
        return state.total
      }
      behind.update { $0.now -= 1 }
      return number <= 16 ? Self.portals[index] : .reply(200)
    }
    defer { server.stop() }
    let store = try store(ManualClock(isJumping: true))
    for lane in 0..<6 { try await enqueue(store, lane: "\(lane)") }
    let report = try await store.outbox.drain(with: HTTPSender(baseURL: server.url), options: options(maxAttempts: 2))
    #expect(report.delivered == 6 && report.died == 0)
    #expect(behind.update { $0.most } <= 4)
    let records = try store.read { t in try store.outbox.journal.records(after: 0, limit: 999, in: t) }
    #expect(records.filter { $0.kind == .claimed }.count == 22, "16 in vain")
  }

  @Test func aServerThatIsNotTrustedPunishesNoEntry() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    let plain = try LoopbackServer(greeting: "SSH-2.0-x\r\n") { _ in .reply(200) }
    let stranger = try TLSServer()
    defer {
      server.stop()
      plain.stop()
    }
    let clock = ManualClock(isJumping: false)
    let store = try store(clock)
    try await enqueue(store)
    for url in ["https://127.0.0.1:\(plain.port)/", stranger.url] {
      let sender = try HTTPSender(baseURL: url)
      for _ in 0..<3 {
        try await store.outbox.drain(with: sender, options: options(.once, maxAttempts: 2))
        clock.advance(by: .seconds(3600))
      }
      let entry = try #require(try store.outbox.pendingEntries(limit: 9).first)
      // 35 and 60 are libcurl's codes for "no TLS to be had" and for "not who it should be".
      let code = url == stranger.url ? "libcurl 60" : "libcurl 35"
      #expect(entry.attempts == 0 && entry.lastError.contains(code), "\(entry.lastError)")
    }
    let report = try await store.outbox.drain(with: HTTPSender(baseURL: server.url), options: options(.once))
    #expect(report.delivered == 1)
  }

  @Test func refusedCredentialsHoldUpOnlyTheirOwn() async throws {
    struct Tokens: CredentialProvider {
      let isLoggedIn: Monitor<Bool>
      func headers(for scope: CredentialScope, replacing refused: [String: String]?) async throws -> [String: String] {
        ["Authorization": scope.name == "me" && !isLoggedIn.update { $0 } ? "old" : "good"]
      }
    }
    let server = try LoopbackServer { $0.headers["authorization"] == "good" ? .reply(200) : .reply(401) }
    defer { server.stop() }
    let clock = ManualClock(isJumping: false)
    let store = try store(clock)
    for (lane, name) in [("1", "me"), ("2", "me"), ("3", nil), ("4", nil)] {
      let request = try OutboxRequest(HTTPOperation("POST", lane), lane: lane, credentials: name)
      try await store.write { t in _ = try store.outbox.enqueue(request, in: &t) }
    }
    let tokens = Tokens(isLoggedIn: Monitor(false))
    let sender = try HTTPSender(baseURL: server.url, credentials: tokens)
    let drain = Task { [options = options(maxAttempts: 2, concurrency: 1)] in
      try await store.outbox.drain(with: sender, options: options)
    }
    var requests = server.requests.makeAsyncIterator()
    for _ in 0..<3 { _ = await requests.next() }
    #expect(Set(server.received.map(\.target)).isSuperset(of: ["/3", "/4"]))
    tokens.isLoggedIn.update { $0 = true }
    clock.advance(by: .seconds(3600))
    #expect(try await drain.value.delivered == 4)
  }
}
