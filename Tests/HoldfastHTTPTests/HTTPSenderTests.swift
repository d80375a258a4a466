import Foundation
import Holdfast
import LMDB
import TestSupport
import Testing

@testable import HoldfastHTTP

@Suite struct HTTPSenderTests {
  private let directory = TemporaryDirectory()

  /// Enqueues one operation, drains it against the answers, and tells what the server got and what happened.
  private func exchange(
    _ operation: HTTPOperation, answers: [String], files: [([UInt8], String)] = [],
    headers: @escaping HTTPSender.HeaderProvider = { _ in [:] }
  ) async throws -> (requests: [String], events: [OutboxEvent]) {
    let store = try Store.open(at: "\(directory.path)/store")
    let server = try ScriptServer(answers)
    let attachments = try files.map { try store.outbox.stage($0.0, name: $0.1, mediaType: "image/png") }
    let request = try OutboxRequest(operation, lane: "l", attachments: attachments)
    try await store.write { t in _ = try store.outbox.enqueue(request, in: &t) }
    let events = Monitor<[OutboxEvent]>([])
    try await store.outbox.drain(
      with: HTTPSender(baseURL: server.url, timeout: .seconds(20), headers: headers),
      options: .init(
        schedule: RetrySchedule(base: .milliseconds(1), cap: .milliseconds(2), floor: .zero),
        onEvent: { event in events.update { $0.append(event) } }))
    return (try server.requests(), events.update { $0 })
  }

  private static let created = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"

  @Test func sendsMethodTargetHeadersKeyAndBody() async throws {
    let (requests, events) = try await exchange(
      HTTPOperation("PUT", "v1/things?x=1", headers: ["X-App": "7"], body: .json("{\"a\": \"é\"}")),
      answers: [Self.created], headers: { entry in ["Authorization": "Bearer for \(entry.id)"] })
    #expect(events == [.delivered(EntryID(rawValue: 1))])
    let request = try #require(requests.first)
    #expect(request.hasPrefix("PUT /v1/things?x=1 HTTP/1.1\r\n"))
    #expect(request.hasSuffix("\r\n\r\n{\"a\": \"é\"}"))
    for line in ["X-App: 7", "Content-Type: application/json", "Authorization: Bearer for 1"] {
      #expect(request.contains("\r\n\(line)\r\n"))
    }
    #expect(
      try /\r\nIdempotency-Key: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\r\n/
        .firstMatch(in: request) != nil)
  }

  @Test func everyAttemptSendsTheSameBytes() async throws {
    let failure = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"
    let (requests, events) = try await exchange(
      HTTPOperation("POST", "p", body: .form([.init(name: "a", value: "b")])),
      answers: [failure, "", Self.created], files: [([1, 2, 3], "i.png")])
    // Headers come in any order; the key and the body, with its boundary, must not change.
    let sent = requests.map { request in
      (request.firstMatch(of: /Idempotency-Key: (\S+)/)?.1, request.components(separatedBy: "\r\n\r\n").dropFirst())
    }
    #expect(sent.count == 3 && sent.allSatisfy { $0 == sent[0] && $0.0 != nil })
    #expect(events.last == .delivered(EntryID(rawValue: 1)) && events.count == 3)
  }

  @Test func attachmentsArePartsOfAForm() async throws {
    let (requests, _) = try await exchange(
      HTTPOperation(
        "POST", "p", body: .form([.init(name: "c", value: "{}", mediaType: "application/json")]), filePart: "image"),
      answers: [Self.created], files: [(Array("PNG".utf8), "a\"b\r\n\"\u{301}图.png")])
    let request = try #require(requests.first)
    let boundary = try #require(request.firstMatch(of: /boundary=(\S+)/)?.1)
    let body = [
      "--\(boundary)", "Content-Disposition: form-data; name=\"c\"", "Content-Type: application/json", "", "{}",
      "--\(boundary)", "Content-Disposition: form-data; name=\"image\"; filename=\"a%22b%0D%0A%22\u{301}图.png\"",
      "Content-Type: image/png", "", "PNG", "--\(boundary)--", "",
    ].joined(separator: "\r\n")
    #expect(request.hasSuffix("\r\n\r\n" + body))
  }

  @Test func aRedirectIsNotFollowed() async throws {
    let redirect = "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n"
    let (requests, events) = try await exchange(HTTPOperation("POST", "p"), answers: [redirect, Self.created])
    #expect(requests.allSatisfy { $0.hasPrefix("POST /p ") })
    #expect(events.count == 2)
  }

  @Test(arguments: ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer"])
  func aDemandForCredentialsIsAnAnswer(_ challenge: String) async throws {
    let refusal = "HTTP/1.1 401 X\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
    let (requests, events) = try await exchange(
      HTTPOperation("POST", "p", body: .json("{}")), answers: [refusal, Self.created])
    #expect(requests.count == 2 && events.count == 2)
    guard case .retrying(_, let reason, _) = events.first else { return #expect(Bool(false), "\(events)") }
    #expect(reason.hasPrefix("http 401"))
  }

  @Test func headersThatCannotBeHadSendNothing() async throws {
    struct Refusal: Error {}
    let calls = Monitor(0)
    let (requests, events) = try await exchange(
      HTTPOperation("POST", "p", body: .json("{}")), answers: [Self.created],
      headers: { _ in
        let count = calls.update { calls in
          calls += 1
          return calls
        }
        if count < 30 { throw Refusal() }
        return [:]
      })
    #expect(requests.count == 1 && events.count == 30, "it does not count towards giving up")
  }

  @Test func cancellingDuringAnUploadIsSurvived() async throws {
    let store = try Store.open(at: "\(directory.path)/store")
    let server = try ScriptServer(Array(repeating: Self.created, count: 40))
    let sender = try HTTPSender(baseURL: server.url, timeout: .seconds(5))
    for delay in 0..<20 {
      let file = try store.outbox.stage([UInt8](repeating: 1, count: 300_000), name: "a", mediaType: "image/png")
      let request = try OutboxRequest(HTTPOperation("POST", "p"), lane: "l", attachments: [file])
      try await store.write { t in _ = try store.outbox.enqueue(request, in: &t) }
      let drain = Task { try await store.outbox.drain(with: sender, options: .init(goal: .once)) }
      for _ in 0..<delay * 50 { await Task.yield() }
      drain.cancel()
      _ = try await drain.value
    }
  }

  @Test func aServerThatIsNotThereWasNotReached() async throws {
    let store = try Store.open(at: "\(directory.path)/store")
    let server = try ScriptServer([])
    _ = try server.requests()
    let request = try OutboxRequest(HTTPOperation("POST", "p", body: .json("{}")), lane: "l")
    try await store.write { t in _ = try store.outbox.enqueue(request, in: &t) }
    let entry = try #require(try store.outbox.pendingEntries(limit: 1).first?.entry.get())
    let outcome = try await HTTPSender(baseURL: server.url).send(entry)
    guard case .notSent = outcome else { return #expect(Bool(false), "\(outcome)") }
  }

  @Test func aMissingAttachmentIsNeverSentInPart() async throws {
    let store = try Store.open(at: "\(directory.path)/store")
    let file = try store.outbox.stage([1, 2, 3], name: "a", mediaType: "image/png")
    let request = try OutboxRequest(HTTPOperation("POST", "p"), lane: "l", attachments: [file])
    try await store.write { t in _ = try store.outbox.enqueue(request, in: &t) }
    let entry = try #require(try store.outbox.pendingEntries(limit: 1).first?.entry.get())
    let sender = try HTTPSender(baseURL: "http://127.0.0.1:9/")
    try Data([1]).write(to: URL(fileURLWithPath: entry.attachments[0].path))
    await #expect { _ = try await sender.send(entry) } throws: { ($0 as? StoreError)?.code == .damaged }
    try FileManager.default.removeItem(atPath: entry.attachments[0].path)
    await #expect { _ = try await sender.send(entry) } throws: { ($0 as? StoreError)?.code == .notFound }
  }
}
