import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast
@testable import HoldfastHTTP

/// T6: a server that knows idempotency keys, as the IETF draft describes it.
@Suite struct IdempotencyTests {
  /// What a server remembers of its keys.
  private final class Ledger: Sendable {
    struct State {
      /// The body that came first with a key.
      var bodies: [String: [UInt8]] = [:]
      /// The stored reply, once the work is done.
      var replies: [String: [UInt8]] = [:]
      var effects: [String: Int] = [:]
      var conflicts = 0
      var mismatches = 0
      var requests = 0
    }

    let state = Monitor(State())

    /// The reply for a repeat; `nil` for a first request, whose work is to be done.
    func repeatedReply(_ request: LoopbackServer.Request) -> LoopbackServer.Answer? {
      let key = request.headers["idempotency-key"] ?? ""
      return state.update { state in
        state.requests += 1
        guard let body = state.bodies[key] else {
          state.bodies[key] = request.body
          return nil
        }
        if body != request.body {
          state.mismatches += 1
          return .reply(422)
        }
        if let reply = state.replies[key] { return .reply(200, [:], reply) }
        state.conflicts += 1
        return .reply(
          409, ["Content-Type": "application/problem+json"],
          Array(#"{"title": "A request is outstanding for this Idempotency-Key"}"#.utf8))
      }
    }

    func doWork(_ request: LoopbackServer.Request) {
      let key = request.headers["idempotency-key"] ?? ""
      state.update { state in
        state.effects[key, default: 0] += 1
        state.replies[key] = Array("done".utf8)
      }
    }
  }

  private let directory = TemporaryDirectory()

  private func store(_ clock: ManualClock) throws -> Store {
    try Store.open(at: "\(directory.path)/store", time: clock.time)
  }

  private func enqueue(_ store: Store, lane: String) async throws {
    let file = try store.outbox.stage([1, 2, 3], name: "a.png", mediaType: "image/png")
    let form = HTTPOperation.Body.form([.init(name: "lane", value: lane)])
    let request = try OutboxRequest(HTTPOperation("POST", "p", body: form), lane: lane, attachments: [file])
    try await store.write { t in _ = try store.outbox.enqueue(request, in: &t) }
  }

  private func options(_ goal: Outbox.DrainOptions.Goal = .idle, window: Duration? = nil) -> Outbox.DrainOptions {
    Outbox.DrainOptions(goal: goal, idempotencyWindow: window, pollInterval: nil)
  }

  @Test func eachKeyHasOneEffectHoweverManyRepliesAreLost() async throws {
    let ledger = Ledger()
    let server = try LoopbackServer { request in
      let number = ledger.state.update { $0.requests }
      let answer = ledger.repeatedReply(request)
      if answer == nil { ledger.doWork(request) }
      // Two of three replies are lost on their way.
      return number % 3 == 2 ? answer ?? .reply(200, [:], Array("done".utf8)) : .close
    }
    defer { server.stop() }
    let store = try store(ManualClock(isJumping: true))
    for lane in 0..<8 { try await enqueue(store, lane: "\(lane)") }
    let replies = Monitor<[[UInt8]]>([])
    let hooks = OutboxHooks(onCommit: { _, reply, _ in replies.update { $0.append(reply) } })
    let report = try await store.outbox.drain(with: HTTPSender(baseURL: server.url), hooks: hooks, options: options())
    #expect(report.delivered == 8)
    let state = ledger.state.update { $0 }
    #expect(state.effects.count == 8 && state.effects.values.allSatisfy { $0 == 1 })
    #expect(state.mismatches == 0 && state.requests > 8)
    #expect(replies.update { $0 } == Array(repeating: Array("done".utf8), count: 8), "the stored one")
  }

  @Test func aRequestThatStillRunsIsWaitedFor() async throws {
    let ledger = Ledger()
    let server = try LoopbackServer { request in
      if let answer = ledger.repeatedReply(request) {
        if ledger.state.update({ $0.conflicts == 3 && $0.effects.isEmpty }) { ledger.doWork(request) }
        return answer
      }
      return .silence  // The work goes on, and the client gives up waiting.
    }
    defer { server.stop() }
    let store = try store(ManualClock(isJumping: true))
    try await enqueue(store, lane: "l")
    let sender = try HTTPSender(baseURL: server.url, totalTimeout: .milliseconds(300))
    var options = options()
    options.schedule.maxAttempts = 2
    let report = try await store.outbox.drain(with: sender, options: options)
    let state = ledger.state.update { $0 }
    #expect(report.delivered == 1 && report.died == 0, "being told to wait does not count")
    #expect(state.conflicts == 3 && state.mismatches == 0 && state.effects.values.allSatisfy { $0 == 1 })
  }

  @Test func whatTheServerMayHaveForgottenIsNotSentBlindly() async throws {
    let ledger = Ledger()
    let server = try LoopbackServer { request in
      if let answer = ledger.repeatedReply(request) { return answer }
      ledger.doWork(request)
      return .close
    }
    defer { server.stop() }
    let clock = ManualClock(isJumping: false)
    let store = try store(clock)
    try await enqueue(store, lane: "l")
    let sender = try HTTPSender(baseURL: server.url)
    try await store.outbox.drain(with: sender, options: options(.once, window: .seconds(86_400)))
    ledger.state.update { $0.bodies = [:] }
    clock.advance(by: .seconds(86_401))
    let report = try await store.outbox.drain(with: sender, options: options(.once, window: .seconds(86_400)))
    #expect(report.held == 1 && report.delivered == 0)
    #expect(try store.outbox.pendingEntries(limit: 1).first?.phase == .held)
    #expect(
      ledger.state.update { $0.requests } == 1 && ledger.state.update { $0.effects.values.allSatisfy { $0 == 1 } })
  }
}
