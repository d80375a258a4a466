import Foundation
import Holdfast
import TestSupport
import Testing

/// What only some entries and records have: policies, keys, hosts, and layers of requests in flight.
@Suite struct StoreDetailTests {
  private let folder = TemporaryDirectory()
  private var store: String { "\(folder.path)/store" }

  private func rows(_ arguments: String...) throws -> [String: String] {
    let command = try Tool.kvdump(arguments)
    #expect(command.status == 0 && command.errors.isEmpty, "\(arguments) \(command.errors)")
    return Dictionary(
      command.output.split(separator: "\n").map { line in
        let parts = String(line).components(separatedBy: "  ").filter { !$0.isEmpty }
        return (parts[0], parts.dropFirst().joined(separator: " ").trimmingCharacters(in: .whitespaces))
      }
    ) { first, _ in first }
  }

  private func fill() throws {
    let store = try Store.open(at: store)
    var request = OutboxRequest(
      kind: "comment.post", schemaVersion: 3, lane: "post:42", payload: Array("{}".utf8),
      optimistic: ["post:42": ["text": "new", "draft": nil], "post:43": ["likes": 1]])
    request.key = "draft:7"
    request.queue = "uploads"
    request.host = "api.example.com"
    request.credentials = "account:9"
    request.priority = .high
    request.recovery = .probe
    request.maxAttempts = 8
    request.maxAge = .seconds(3600)
    try store.write { t in
      try store.state.update("post:42", ["text": "old"], in: &t)
      try store.outbox.enqueue(request, in: &t)
      try store.outbox.enqueue(OutboxRequest(kind: "plain", lane: "l", payload: []), in: &t)
    }
  }

  @Test func anEntryIsShownWhole() throws {
    try fill()
    let entry = try rows("outbox", "show", store, "1")
    let expected = [
      "kind": "comment.post, version 3", "lane": "post:42", "key": "draft:7", "queue": "uploads",
      "host": "api.example.com", "credentials": "account:9", "priority": "high", "recovery": "probe",
      "attempts": "0 of at most 8", "fate unknown": "no", "state": "waiting",
    ]
    for (name, value) in expected { #expect(entry[name] == value, "\(name)") }
    // In an hour, by the clock of the wall.
    let created = try Date(entry["created"] ?? "", strategy: .iso8601)
    let expires = try Date(entry["expires"] ?? "", strategy: .iso8601)
    #expect((3500...3700).contains(expires.timeIntervalSince(created)))
    #expect(entry["over post:42, until it is settled, and then in it:"] != nil && entry["text"] == "\"new\"")
    #expect(entry["draft"] == "(removed)" && entry["likes"] == "1")
    let plain = try rows("outbox", "show", store, "2")
    #expect(plain["host"] == "the sender's" && plain["key"] == "-" && plain["expires"] == "never")
    #expect(plain["recovery"] == "resend" && plain["attempts"] == "0")
  }

  @Test func aRecordThatIsOnlyInFlightIsNotOfTheYear1970() throws {
    try fill()
    for arguments in [["list", store], ["stats", store], ["show", store, "post:43"], ["tail", store]] {
      let command = try Tool.kvdump(["state"] + arguments)
      #expect(
        command.status == 0 && !command.output.contains("1970") && !command.output.contains(" d "), "\(arguments)")
    }
    #expect(try Tool.kvdump("state", "list", store).output.contains("only in requests in flight"))
    #expect(try !Tool.kvdump("state", "tail", store).output.contains("post:43"))
    let record = try rows("state", "show", store, "post:43")
    #expect(record["written"] == "never; it is only in requests in flight" && record["likes"] == "1")
    #expect(record["over it, until entry 1 of the outbox is settled:"] != nil)
    let stats = try Tool.kvdump("state", "stats", store).output.split(separator: "\n")
    #expect(stats[1].split(separator: " ", omittingEmptySubsequences: true)[..<2].elementsEqual(["post", "2"]))
  }

  @Test func mergedRecordsHaveWhatRequestsPromise() throws {
    try fill()
    let command = try Tool.kvdump("state", "get", store, "post:42", "post:43")
    #expect(command.status == 0 && command.output == "{\"likes\": 1, \"text\": \"new\"}\n", "\(command.output)")
  }

  /// As the help says: what a cancelled entry laid over the state goes with it.
  @Test func layersGoWithACancelledEntry() throws {
    try fill()
    #expect(try Tool.kvdump("outbox", "cancel", store, "1").status == 0)
    #expect(try Tool.kvdump("state", "show", store, "post:43").status == 1)
    let record = try Tool.kvdump("state", "show", store, "post:42").output
    #expect(record.contains("\"old\"") && !record.contains("over it"))
    #expect(try Tool.kvdump("help", "outbox", "cancel").output.contains("laid over the state"))
  }

  /// A store of the first version, which knew neither layers nor expiry.
  @Test func anEarlierLayoutIsShown() throws {
    let earlier = "\(Place.root)/Tests/HoldfastTests/Outbox/Fixtures/layout-1"
    let entry = try rows("outbox", "show", earlier, "3")
    #expect(entry["lane"] == "a" && entry["expires"] == "never" && entry["recovery"] == "resend")
    #expect(try Tool.kvdump("outbox", "show", earlier, "4").output.contains("http 400"))
    #expect(try Tool.kvdump("outbox", "verify", earlier).status == 0)
  }

  @Test func theNewestComeLast() throws {
    do {
      let store = try Store.open(at: store)
      // Keys in falling order, so that the newest is not the last key.
      for index in (100..<150).reversed() {
        try store.write { t in try store.state.update(StateKey("post:\(index)"), ["n": 1], in: &t) }
      }
    }
    let lines = try Tool.kvdump("state", "tail", store, "--limit", "3").output.split(separator: "\n")
    #expect(lines.dropFirst().map { $0.prefix(8) } == ["post:102", "post:101", "post:100"])
    #expect(try Tool.kvdump("state", "tail", store, "--limit", "0").output.isEmpty)
    #expect(try Tool.kvdump("state", "tail", store, "--limit", "1000").output.split(separator: "\n").count == 51)
  }
}
