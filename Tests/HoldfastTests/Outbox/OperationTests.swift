import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct OperationTests {
  private struct OldLike: OutboxOperation {
    static let kind = "like"
    var post: String
  }

  private struct Like: OutboxOperation, Equatable {
    static let kind = "like"
    static let schemaVersion: UInt16 = 3
    var post: Int

    static func migrate(_ payload: [UInt8], from version: UInt16) throws -> Like {
      let old = try OldLike.migrate(payload, from: version)
      guard let post = Int(old.post) else { throw StoreError(.corruptRecord, "\(old.post) is not a post.") }
      return Like(post: post)
    }
  }

  private let directory = TemporaryDirectory()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: TestTime().time) }

  private func sender(_ seen: Monitor<[Like]>) -> OperationSender {
    var sender = OperationSender()
    sender.register(Like.self) { like, _ in
      seen.update { $0.append(like) }
      return .delivered(reply: [])
    }
    return sender
  }

  @Test func operationsOfAllVersionsAreSent() async throws {
    let store = try open()
    try await store.write { t in
      try store.outbox.enqueue(OutboxRequest(OldLike(post: "1"), lane: "a"), in: &t)
      try store.outbox.enqueue(OutboxRequest(Like(post: 2), lane: "a"), in: &t)
    }
    let seen = Monitor<[Like]>([])
    #expect(try await store.outbox.drain(with: sender(seen)).delivered == 2)
    #expect(seen.update { $0 } == [Like(post: 1), Like(post: 2)])
  }

  @Test func anOperationCarriesWhatIsShownMeanwhile() throws {
    let optimistic: [StateKey: FieldChanges] = ["post:2": ["isLiked": true, "draft": nil]]
    #expect(try OutboxRequest(Like(post: 2), optimistic: optimistic).optimistic == optimistic)
    #expect(try OutboxRequest(Like(post: 2)).optimistic.isEmpty)
  }

  @Test func whatIsNamedIsWhatWouldBeSet() throws {
    var set = OutboxRequest(
      kind: "like", schemaVersion: 3, lane: "l", payload: Array(#"{"post":2}"#.utf8), optimistic: ["a:1": ["b": 1]])
    (set.host, set.credentials, set.queue, set.key) = ("h", "c", "q", "k")
    (set.conflict, set.priority, set.recovery) = (.replace, .high, .hold)
    (set.delay, set.maxAge, set.maxAttempts) = (.seconds(1), .seconds(2), 3)
    set.optimisticPolicy = .drop
    let plain = OutboxRequest(
      kind: "like", schemaVersion: 3, lane: "l", payload: Array(#"{"post":2}"#.utf8), host: "h", credentials: "c",
      queue: "q", key: "k", conflict: .replace, priority: .high, delay: .seconds(1), maxAge: .seconds(2),
      maxAttempts: 3, recovery: .hold, optimistic: ["a:1": ["b": 1]], optimisticPolicy: .drop)
    #expect(String(reflecting: plain) == String(reflecting: set))
    let typed = try OutboxRequest(
      Like(post: 2), lane: "l", host: "h", credentials: "c", queue: "q", key: "k", conflict: .replace,
      priority: .high, delay: .seconds(1), maxAge: .seconds(2), maxAttempts: 3, recovery: .hold,
      optimistic: ["a:1": ["b": 1]], optimisticPolicy: .drop)
    #expect(String(reflecting: typed) == String(reflecting: set))
  }

  @Test("T9: unknown kinds, undecodable payloads and newer versions are held, and others drain")
  func whatIsNotKnownIsHeld() async throws {
    let store = try open()
    let bad: [(String, UInt16, String)] = [
      ("unknown", 1, "{}"), ("like", 3, "not JSON"), ("like", 4, "{\"post\":1}"), ("like", 1, "{\"post\":\"x\"}"),
      ("like", 3, "{}"),
    ]
    try await store.write { t in
      for (kind, version, payload) in bad {
        let request = OutboxRequest(kind: kind, schemaVersion: version, payload: Array(payload.utf8))
        try store.outbox.enqueue(request, in: &t)
      }
      try store.outbox.enqueue(OutboxRequest(Like(post: 2)), in: &t)
    }
    let seen = Monitor<[Like]>([])
    let report = try await store.outbox.drain(with: sender(seen))
    #expect(report.held == bad.count && report.delivered == 1)
    let held = try store.outbox.pendingEntries(limit: 99)
    #expect(held.allSatisfy { $0.phase == .held && $0.attempts == 0 && !$0.lastError.isEmpty })
  }

  @Test func aVersionOfTheAppThatKnowsItSendsWhatWasHeld() async throws {
    let store = try open()
    try await store.write { t in try store.outbox.enqueue(OutboxRequest(Like(post: 2)), in: &t) }
    #expect(try await store.outbox.drain(with: OperationSender()).held == 1)
    let seen = Monitor<[Like]>([])
    #expect(try await store.outbox.drain(with: sender(seen)).delivered == 1)
  }

  @Test func otherSendersHaveTheirKinds() async throws {
    let store = try open()
    try store.enqueue(["1"])
    let inner = ScriptedSender()
    var sender = OperationSender()
    sender.register(kind: "test", inner)
    #expect(try await store.outbox.drain(with: sender).delivered == 1)
    #expect(inner.sent.count == 1)
  }

  @Test func aSenderIsTestedWithoutAStore() async throws {
    let seen = Monitor<[Like]>([])
    let file = OutboxEntry.Attachment(name: "a", mediaType: "b", size: 1, path: "/c")
    let entry = OutboxEntry(try OutboxRequest(Like(post: 7)), id: EntryID(rawValue: 1), attachments: [file])
    #expect(try await sender(seen).send(entry) == .delivered(reply: []))
    #expect(seen.update { $0 } == [Like(post: 7)] && entry.attachments == [file])
  }
}
