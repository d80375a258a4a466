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
    #expect(try OutboxRequest(operation, lane: "l").payload == request.payload, "the same bytes each time")
  }

  @Test(arguments: [
    HTTPOperation("", "x"), HTTPOperation("PO ST", "x"), HTTPOperation("POST\r\n", "x"),
    HTTPOperation("POST", ""), HTTPOperation("POST", "ftp://example.com/"), HTTPOperation("POST", "https:///x"),
    HTTPOperation("POST", "x\r\ny"), HTTPOperation("POST", "javascript:alert(1)"),
    HTTPOperation("POST", "//example.com/x"), HTTPOperation("POST", "https://user:secret@example.com/x"),
    HTTPOperation("POST", "x", headers: ["X": "a\r\nEvil: yes"]), HTTPOperation("POST", "x", headers: ["X Y": "a"]),
    HTTPOperation("POST", "x", headers: ["authorization": "Bearer"]),
    HTTPOperation("POST", "x", headers: ["Cookie": "a"]),
    HTTPOperation("POST", "x", headers: ["Content-Length": "3"]),
    HTTPOperation("POST", "x", body: .form([.init(name: "a", value: "b", mediaType: "a\r\nb")])),
  ])
  func whatCannotBeSentIsNotStored(_ operation: HTTPOperation) {
    #expect { try OutboxRequest(operation, lane: "l") } throws: { ($0 as? StoreError)?.code == .invalidValue }
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
