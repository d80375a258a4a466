import Foundation
import Holdfast
import LMDB
import TestSupport
import Testing

@testable import HoldfastHTTP

/// One attempt at one entry.
@Suite struct HTTPSenderTests {
  private let directory = TemporaryDirectory()

  /// An entry as the outbox hands it to a sender.
  private func entry(
    _ operation: HTTPOperation, files: [([UInt8], String)] = [], credentials: String? = nil
  ) async throws -> OutboxEntry {
    let store = try Store.open(at: "\(directory.path)/store")
    let attachments = try files.map { try store.outbox.stage($0.0, name: $0.1, mediaType: "image/png") }
    let request = try OutboxRequest(operation, lane: "l", attachments: attachments, credentials: credentials)
    return try await entry(request, in: store)
  }

  private func entry(_ request: OutboxRequest, in store: Store) async throws -> OutboxEntry {
    let id = try await store.write { t in try store.outbox.enqueue(request, in: &t) }
    let pending = try store.outbox.pendingEntries(limit: 1000)
    return try #require(try pending.first { $0.id == id }?.entry.get())
  }

  @Test func sendsMethodTargetHeadersKeyAndBody() async throws {
    let server = try LoopbackServer { _ in .reply(201, [:], Array("ok".utf8)) }
    defer { server.stop() }
    let sender = try HTTPSender(baseURL: server.url + "api/", credentials: Fixed(["Authorization": "Bearer t"]))
    let entry = try await entry(
      HTTPOperation("PUT", "v1/things?x=1", headers: ["X-App": "7"], body: .json("{\"a\": \"é\"}")))
    #expect(await sender.send(entry) == .delivered(reply: Array("ok".utf8)))
    let request = try #require(server.received.first)
    #expect(request.method == "PUT" && request.target == "/api/v1/things?x=1" && request.text == "{\"a\": \"é\"}")
    let expected = [
      "x-app": "7", "content-type": "application/json", "accept": "application/json", "authorization": "Bearer t",
      "idempotency-key": "\(entry.idempotencyKey)",
    ]
    for (name, value) in expected { #expect(request.headers[name] == value) }
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET", "PURGE"])
  func aRequestWithoutContentHasNone(_ method: String) async throws {
    let server = try LoopbackServer { _ in .reply(204) }
    defer { server.stop() }
    #expect(try await HTTPSender(baseURL: server.url).send(entry(HTTPOperation(method, "p"))) == .delivered(reply: []))
    let request = try #require(server.received.first)
    #expect(request.method == method && request.bodySize == 0)
    #expect(request.headers["content-length"] == (["POST", "PUT", "PATCH"].contains(method) ? "0" : nil))
    #expect(request.headers["content-type"] == nil)
  }

  @Test func headersOfTheOperationStandInWhateverCase() async throws {
    let server = try LoopbackServer { _ in .reply(200, ["Content-Type": "text/html"], Array("<p>".utf8)) }
    defer { server.stop() }
    let sender = try HTTPSender(baseURL: server.url, idempotencyHeader: "X-Key")
    let entry = try await entry(HTTPOperation("POST", "p", headers: ["accept": "text/html", "x-key": "mine"]))
    #expect(await sender.send(entry) == .delivered(reply: Array("<p>".utf8)), "a page that was asked for")
    #expect(server.received[0].headers["accept"] == "text/html")
    #expect(server.received[0].headers["x-key"] == "\(entry.idempotencyKey)")
  }

  @Test func attachmentsArePartsOfAForm() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let fields = [HTTPOperation.FormField(name: "c", value: "{}", mediaType: "application/json")]
    let entry = try await entry(
      HTTPOperation("POST", "p", body: .form(fields), filePart: "image"),
      files: [(Array("PNG".utf8), "a\"b\r\n\"\u{301}图.png"), ([], "empty")])
    for _ in 0..<2 { #expect(try await HTTPSender(baseURL: server.url).send(entry) == .delivered(reply: [])) }
    let request = server.received[0]
    let boundary = "holdfast-\(entry.idempotencyKey)"
    #expect(request.headers["content-type"] == "multipart/form-data; boundary=\(boundary)")
    let body = [
      "--\(boundary)", "Content-Disposition: form-data; name=\"c\"", "Content-Type: application/json", "", "{}",
      "--\(boundary)", "Content-Disposition: form-data; name=\"image\"; filename=\"a%22b%0D%0A%22\u{301}图.png\"",
      "Content-Type: image/png", "", "PNG",
      "--\(boundary)", "Content-Disposition: form-data; name=\"image\"; filename=\"empty\"",
      "Content-Type: image/png", "", "", "--\(boundary)--", "",
    ].joined(separator: "\r\n")
    #expect(request.text == body)
    #expect(server.received[1].body == request.body, "the same bytes at each attempt")
  }

  @Test func aMissingAttachmentIsNeverSentInPart() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let entry = try await entry(HTTPOperation("POST", "p"), files: [([1, 2, 3], "a")])
    let path = entry.attachments[0].path
    try Data([1]).write(to: URL(fileURLWithPath: path))
    let sender = try HTTPSender(baseURL: server.url)
    for _ in 0..<2 {
      guard case .unsendable(let reason) = await sender.send(entry) else {
        Issue.record("it was sent")
        return
      }
      #expect(reason.contains(path))
      try? FileManager.default.removeItem(atPath: path)
    }
    #expect(server.received.isEmpty)
  }

  @Test func whatCannotBeReadIsKept() async throws {
    let sender = try HTTPSender(baseURL: "http://127.0.0.1:1/")
    let store = try Store.open(at: "\(directory.path)/store")
    for (kind, payload) in [
      ("mail", "{}"), ("http", "{}"), ("http", "\u{FF}"),
      ("http", #"{"format":2,"method":"POST","url":"x","headers":{},"filePart":"file"}"#),
      ("http", #"{"format":1,"method":"POST","url":"ftp://x","headers":{},"filePart":"file"}"#),
    ] {
      let request = OutboxRequest(kind: kind, lane: "l", payload: Array(payload.utf8))
      guard case .unsendable = try await sender.send(entry(request, in: store)) else {
        Issue.record("\(kind) \(payload) was sent")
        continue
      }
    }
  }

  @Test func aLongReplyIsCutShort() async throws {
    let server = try LoopbackServer { _ in .endless(Array("0123456789".utf8)) }
    defer { server.stop() }
    let sender = try HTTPSender(baseURL: server.url, replyLimit: 4)
    #expect(try await sender.send(entry(HTTPOperation("POST", "p"))) == .delivered(reply: Array("0123".utf8)))
  }

  @Test(arguments: [.zero, .seconds(-1), .seconds(86_401)] as [Duration]) func limitsAreChecked(_ time: Duration) {
    for make in [
      { try HTTPSender(baseURL: "http://h/", timeout: time) },
      { try HTTPSender(baseURL: "http://h/", totalTimeout: time) },
    ] {
      #expect { try make() } throws: { ($0 as? StoreError)?.code == .invalidOption }
    }
  }

  @Test func namesOfHeadersAreChecked() {
    #expect { try HTTPSender(baseURL: "http://h/", idempotencyHeader: "a b") } throws: {
      ($0 as? StoreError)?.code == .invalidOption
    }
  }

  // MARK: Redirects

  @Test(arguments: [307, 308]) func aRedirectToTheSameServerIsFollowedWithTheSameKey(_ status: Int) async throws {
    let server = try LoopbackServer { $0.target == "/p" ? .reply(status, ["Location": "/q?x=1"]) : .reply(200) }
    defer { server.stop() }
    let entry = try await entry(HTTPOperation("POST", "p", body: .json("{}")), files: [])
    #expect(try await HTTPSender(baseURL: server.url).send(entry) == .delivered(reply: []))
    #expect(server.received.map(\.target) == ["/p", "/q?x=1"])
    #expect(server.received.allSatisfy { $0.method == "POST" && $0.text == "{}" })
    #expect(Set(server.received.map { $0.headers["idempotency-key"] }) == ["\(entry.idempotencyKey)"])
  }

  @Test(arguments: [301, 302, 303]) func aRedirectThatDropsTheMethodIsNotFollowed(_ status: Int) async throws {
    let server = try LoopbackServer { $0.target == "/p" ? .reply(status, ["Location": "/q"]) : .reply(200) }
    defer { server.stop() }
    let sender = try HTTPSender(baseURL: server.url)
    guard case .postponed(_, .host, _) = try await sender.send(entry(HTTPOperation("POST", "p"))) else {
      Issue.record("it counts")
      return
    }
    #expect(server.received.map(\.target) == ["/p"])
    #expect(try await sender.send(entry(HTTPOperation("GET", "p"))) == .delivered(reply: []))
  }

  @Test func aRedirectToAnotherServerIsNeverFollowed() async throws {
    let other = try LoopbackServer { _ in .reply(200) }
    let server = try LoopbackServer { _ in .reply(307, ["Location": other.url]) }
    defer {
      server.stop()
      other.stop()
    }
    for method in ["POST", "GET"] {
      guard
        case .postponed(_, .host, _) = try await HTTPSender(baseURL: server.url).send(entry(HTTPOperation(method, "p")))
      else {
        Issue.record("it counts")
        continue
      }
    }
    #expect(other.received.isEmpty)
  }

  @Test func aCircleOfRedirectsEnds() async throws {
    let server = try LoopbackServer { _ in .reply(307, ["Location": "/p"]) }
    defer { server.stop() }
    guard case .postponed = try await HTTPSender(baseURL: server.url).send(entry(HTTPOperation("POST", "p"))) else {
      Issue.record("it counts")
      return
    }
    #expect(server.received.count == 6)
  }

  // MARK: Credentials

  /// Gives the same fields to everybody.
  private struct Fixed: CredentialProvider {
    let fields: [String: String]
    init(_ fields: [String: String]) { self.fields = fields }
    func headers(for scope: CredentialScope, replacing refused: [String: String]?) async throws -> [String: String] {
      fields
    }
  }

  /// Keeps a token that can be renewed, and counts.
  private final class Tokens: CredentialProvider {
    struct State {
      var current = 1
      var scopes: [CredentialScope] = []
      var renewals = 0
    }

    let state = Monitor(State())
    /// Runs in each renewal, and may refuse it.
    let renew: @Sendable () async throws -> Void

    init(renew: @escaping @Sendable () async throws -> Void = {}) { self.renew = renew }

    func headers(for scope: CredentialScope, replacing refused: [String: String]?) async throws -> [String: String] {
      state.update { state in
        state.scopes.append(scope)
        if refused != nil { state.renewals += 1 }
      }
      if let refused {
        try await renew()
        state.update { state in
          if refused == ["Authorization": "\(state.current)"] { state.current += 1 }
        }
      }
      return ["Authorization": "\(state.update { $0.current })"]
    }
  }

  @Test(arguments: [401, 407]) func refusedCredentialsAreReplacedOnceForAllEntries(_ status: Int) async throws {
    let arrived = Monitor(0)
    let server = try LoopbackServer { request in
      if request.headers["authorization"] != "1" { return .reply(200) }
      arrived.update { $0 += 1 }
      // All eight are refused before anybody is answered.
      arrived.wait { $0 >= 8 ? () : nil }
      return .reply(status, ["WWW-Authenticate": "Bearer"])
    }
    defer { server.stop() }
    let tokens = Tokens()
    let sender = try HTTPSender(baseURL: server.url, credentials: tokens)
    var entries: [OutboxEntry] = []
    for number in 0..<8 { entries.append(try await entry(HTTPOperation("POST", "\(number)"), credentials: "me")) }
    let outcomes = await withTaskGroup { group in
      for entry in entries { group.addTask { await sender.send(entry) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes == Array(repeating: .delivered(reply: []), count: 8))
    #expect(tokens.state.update { $0.renewals } == 1)
    let origin = String(server.url.dropLast())
    #expect(Set(tokens.state.update { $0.scopes }) == [CredentialScope(name: "me", origin: origin)])
    let keys = Dictionary(grouping: server.received, by: \.target).values.map {
      Set($0.map { $0.headers["idempotency-key"] })
    }
    #expect(keys.count == 8 && keys.allSatisfy { $0.count == 1 }, "sent again under the same key")
  }

  @Test func whatComesLateWithOldCredentialsIsNotAReasonToAsk() async throws {
    let server = try LoopbackServer { $0.headers["authorization"] == "2" ? .reply(200) : .reply(401) }
    defer { server.stop() }
    let tokens = Tokens()
    let desk = CredentialDesk(tokens)
    let scope = CredentialScope(name: nil, origin: "https://h")
    for _ in 0..<3 {
      #expect(try await desk.headers(for: scope, replacing: ["Authorization": "1"]) == ["Authorization": "2"])
    }
    #expect(tokens.state.update { $0.renewals } == 1)
    #expect(try await desk.headers(for: scope, replacing: ["Authorization": "2"]) == ["Authorization": "3"])
    #expect(tokens.state.update { $0.renewals } == 2)
  }

  @Test func credentialsThatCannotBeReplacedCloseTheirGate() async throws {
    struct Refusal: Error {}
    let server = try LoopbackServer { _ in .reply(401) }
    defer { server.stop() }
    let tokens = Tokens { throw Refusal() }
    let providers: [any CredentialProvider] = [tokens, Fixed(["Authorization": "x"])]
    for provider in providers {
      let sender = try HTTPSender(baseURL: server.url, credentials: provider)
      for _ in 0..<2 {
        let outcome = try await sender.send(entry(HTTPOperation("POST", "p")))
        guard case .postponed(_, .credentials, nil) = outcome else {
          Issue.record("\(outcome)")
          continue
        }
      }
    }
    #expect(tokens.state.update { $0.renewals } == 2, "the next attempt asks anew")
    #expect(server.received.count == 4, "the same credentials are not tried twice")
  }

  @Test func credentialsThatCannotBeHadSendNothing() async throws {
    struct Missing: CredentialProvider, Error {
      func headers(for scope: CredentialScope, replacing refused: [String: String]?) async throws -> [String: String] {
        throw self
      }
    }
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let sender = try HTTPSender(baseURL: server.url, credentials: Missing())
    let outcome = try await sender.send(entry(HTTPOperation("POST", "p")))
    guard case .notSent(_, .credentials) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(server.received.isEmpty)
  }

  @Test func aDrainThatIsCancelledDoesNotWaitForTheProvider() async throws {
    let server = try LoopbackServer { _ in .reply(401) }
    defer { server.stop() }
    let (asked, tell) = AsyncStream.makeStream(of: Void.self)
    let tokens = Tokens {
      tell.yield()
      try await Task.sleep(for: .seconds(3600))
    }
    let sender = try HTTPSender(baseURL: server.url, credentials: tokens)
    let entry = try await entry(HTTPOperation("POST", "p"))
    let attempt = Task { await sender.send(entry) }
    var iterator = asked.makeAsyncIterator()
    await iterator.next()
    attempt.cancel()
    guard case .postponed(_, .credentials, _) = await attempt.value else {
      Issue.record("it counts")
      return
    }
  }
}
