import Foundation
import Holdfast
import TestSupport
import Testing

@testable import HoldfastHTTP

@Suite struct HTTPOperationTests {
  @Test(arguments: [
    HTTPOperation("GET", "things/1"),
    HTTPOperation("PUT", "https://example.com/a?b=c", headers: ["X-App": "1"], body: .json("{\"a\":\"é\"}")),
    HTTPOperation("POST", "x", body: .form([.init(name: "a", value: "b", mediaType: "text/html")]), filePart: "image"),
  ])
  func isStoredAndReadBack(_ operation: HTTPOperation) throws {
    let request = try OutboxRequest(operation, lane: "l")
    #expect(request.kind == "http")
    #expect(try HTTPOperation(payload: request.payload) == operation)
    let shown = try OutboxRequest(operation, lane: "l", optimistic: ["thing:1": ["isSent": true]])
    #expect(shown.payload == request.payload, "the same bytes each time")
    #expect(shown.optimistic == ["thing:1": ["isSent": true]] && request.optimistic.isEmpty)
  }

  @Test(arguments: [
    HTTPOperation("", "x"), HTTPOperation("PO ST", "x"), HTTPOperation("POST\r\n", "x"),
    HTTPOperation("POST", ""), HTTPOperation("POST", "ftp://example.com/"), HTTPOperation("POST", "https:///x"),
    HTTPOperation("POST", "x\r\ny"), HTTPOperation("POST", "javascript:alert(1)"),
    HTTPOperation("POST", "//example.com/x"), HTTPOperation("POST", "https://user:secret@example.com/x"),
    HTTPOperation("POST", "x", headers: ["X": "a\r\nEvil: yes"]), HTTPOperation("POST", "x", headers: ["X Y": "a"]),
    HTTPOperation("POST", "x", headers: ["authorization": "Bearer"]),
    HTTPOperation("POST", "x", headers: ["Cookie": "a"]),
    HTTPOperation("POST", "x", headers: ["Content-Length": "3"]), HTTPOperation("POST", "x", headers: ["Expect": "3"]),
    HTTPOperation("GET", "x", body: .json("{}")), HTTPOperation("HEAD", "x", body: .form([])),
    HTTPOperation("POST", "x", body: .form([.init(name: "a", value: "b", mediaType: "a\r\nb")])),
  ])
  func whatCannotBeSentIsNotStored(_ operation: HTTPOperation) {
    #expect { try OutboxRequest(operation, lane: "l") } throws: { ($0 as? StoreError)?.code == .invalidValue }
  }

  @Test func whatIsNamedIsWhatWouldBeSet() throws {
    let operation = HTTPOperation("PUT", "https://example.com/a")
    var set = try OutboxRequest(operation, lane: "l", optimistic: ["a:1": ["b": 1]])
    (set.credentials, set.queue, set.key) = ("c", "q", "k")
    (set.conflict, set.priority, set.recovery) = (.replace, .high, .hold)
    (set.delay, set.maxAge, set.maxAttempts) = (.seconds(1), .seconds(2), 3)
    set.optimisticPolicy = .drop
    let named = try OutboxRequest(
      operation, lane: "l", credentials: "c", queue: "q", key: "k", conflict: .replace, priority: .high,
      delay: .seconds(1), maxAge: .seconds(2), maxAttempts: 3, recovery: .hold, optimistic: ["a:1": ["b": 1]],
      optimisticPolicy: .drop)
    #expect(String(reflecting: named) == String(reflecting: set))
    #expect(named.host == "example.com")
  }

  @Test func withoutALaneItWaitsForNobody() throws {
    let operation = HTTPOperation("PUT", "a")
    let lanes = try [OutboxRequest(operation).lane, OutboxRequest(operation).lane]
    #expect(lanes[0] != lanes[1] && !lanes.contains(""))
  }

  @Test func whatWasStoredWithoutAFormatIsRead() throws {
    let old = #"{"filePart":"image","form":[{"name":"a","value":"b"}],"headers":{"X":"1"},"method":"POST","url":"p"}"#
    let operation = HTTPOperation(
      "POST", "p", headers: ["X": "1"], body: .form([.init(name: "a", value: "b")]), filePart: "image")
    #expect(try HTTPOperation(payload: Array(old.utf8)) == operation)
    let stored = String(decoding: try OutboxRequest(operation, lane: "l").payload, as: UTF8.self)
    #expect(stored.contains(#""format":1"#))
    let later = stored.replacingOccurrences(of: #""format":1"#, with: #""format":2"#)
    #expect { try HTTPOperation(payload: Array(later.utf8)) } throws: {
      ($0 as? StoreError)?.code == .unsupportedVersion
    }
  }

  @Test func aJSONBodyHasNoAttachments() throws {
    let directory = TemporaryDirectory()
    let store = try Store.open(at: "\(directory.path)/store")
    let file = try store.outbox.stage([1], name: "a", mediaType: "image/png")
    #expect {
      try OutboxRequest(HTTPOperation("POST", "x", body: .json("{}")), lane: "l", attachments: [file])
    } throws: {
      ($0 as? StoreError)?.code == .invalidValue
    }
  }

  @Test(arguments: ["", "nonsense", "ftp://example.com", "http://", "/only/a/path", "http:///x", "localhost:8080"])
  func aBaseThatIsNoServerIsRefused(_ url: String) {
    #expect { try HTTPSender(baseURL: url) } throws: { ($0 as? StoreError)?.code == .invalidOption }
  }
}
