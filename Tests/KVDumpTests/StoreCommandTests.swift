import Foundation
import Holdfast
import LMDB
import TestSupport
import Testing

/// The package's own stores, read without opening them.
@Suite struct StoreCommandTests {
  private let folder = TemporaryDirectory()
  private var store: String { "\(folder.path)/store" }
  private var cache: String { "\(folder.path)/cache" }

  private func fill() throws {
    let store = try Store.open(at: store)
    try store.write { t in
      for index in 1...30 {
        try store.state.update("post:\(index)", ["n": .int(Int64(index)), "text": "a\u{1B}b"], in: &t)
        try store.outbox.enqueue(
          OutboxRequest(kind: "k\(index % 3)", lane: "l\(index % 7)", payload: Array("{\"n\":\(index)}".utf8)), in: &t)
      }
      try store.state.update("user:1", ["name": "Лин"], in: &t)
    }
  }

  private func lines(_ arguments: String...) throws -> [String] {
    let command = try Tool.kvdump(arguments)
    #expect(command.status == 0 && command.errors.isEmpty, "\(arguments) \(command.errors)")
    #expect(!command.output.contains("\u{1B}"))
    return command.output.split(separator: "\n").map(String.init)
  }

  @Test func theOutboxIsShown() throws {
    try fill()
    let before = try Tool.listing(store)
    #expect(try lines("outbox", "list", store, "--limit", "3").count == 5)
    #expect(try lines("outbox", "list", store, "--state", "dead") == ["30 pending, 0 dead"])
    let entry = try lines("outbox", "show", store, "7")
    #expect(entry.contains { $0.hasPrefix("lane") && $0.hasSuffix("l0") } && entry.contains("  \"n\" : 7"))
    #expect(try Tool.kvdump("outbox", "show", store, "7", "--payload").output == "{\"n\":7}")
    #expect(try Tool.kvdump("outbox", "show", store, "31").status == 1)
    let stats = try lines("outbox", "stats", store, "--now", "4102444800000")
    #expect(stats.contains { $0.hasPrefix("waiting") && $0.hasSuffix(" 30   30") }, "\(stats)")
    #expect(stats.contains("  10  k0") && stats.contains("  5  l1"))
    #expect(try lines("outbox", "verify", store) == ["0 errors, 30 entries checked"])
    let tail = try lines("outbox", "tail", store, "--limit", "2")
    #expect(tail.count == 2 && tail[1].contains("  30  enqueued"))
    #expect(try Tool.listing(store) == before)
  }

  #if os(Linux)
    @Test func whoDrainsIsShown() throws {
      try fill()
      #expect(try lines("outbox", "stats", store).contains("no process that can be seen from here drains it"))
      // And more after it than the system tells at once.
      let names = ["store/outbox.lock"] + (0..<200).map { "\($0)" }
      let descriptors = names.map { open("\(folder.path)/\($0)", O_CREAT | O_RDWR | O_CLOEXEC, 0o600) }
      defer { for descriptor in descriptors { close(descriptor) } }
      for descriptor in descriptors { try #require(flock(descriptor, LOCK_EX) == 0) }
      #expect(try lines("outbox", "stats", store).contains("process \(getpid()) drains it"))
    }
  #endif

  @Test(arguments: ["outbox.due", "outbox.lane", "outbox.attachment"])
  func lostIndexesAreFoundAndMadeAnew(_ name: String) throws {
    try fill()
    do {
      let store = try Store.open(at: store)
      let file = try store.outbox.stage([1, 2, 3], name: "a", mediaType: "b/c")
      try store.write { t in
        try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l0", payload: [1], attachments: [file]), in: &t)
      }
    }
    #expect(try lines("outbox", "verify", store) == ["0 errors, 31 entries checked"])
    do {
      let environment = try Environment.open(at: store, databases: [name])
      let index = try environment.database(name)
      try environment.write { t in _ = try t.removeAll(in: index) }
    }
    for command in [["outbox", "verify", store], ["verify", "--deep", store]] {
      let verify = try Tool.kvdump(command)
      #expect(verify.status == 1 && verify.output.contains("\(name) has 0 rows"), "\(verify.output)")
    }
    let repair = try lines("outbox", "repair", store)
    #expect(repair.last?.hasSuffix(" put right, 0 left") == true && repair.count > 1, "\(repair)")
    #expect(try lines("outbox", "verify", store) == ["0 errors, 31 entries checked"])
    #expect(try lines("outbox", "repair", store) == ["0 problems, 0 rows put right, 0 left"])
  }

  @Test func pausesAreNoFault() throws {
    try fill()
    do {
      let store = try Store.open(at: store)
      try store.write { t in
        for scope in [.all, .queue("q"), .lane("l0"), .lane("nothing")] as [OutboxScope] {
          try store.outbox.pause(scope, in: &t)
        }
      }
    }
    #expect(try lines("outbox", "verify", store) == ["0 errors, 30 entries checked"])
    #expect(try lines("verify", "--deep", store).last == "0 errors, 30 entries checked")
    // A lane that is not paused is still missed.
    let environment = try Environment.open(at: store, databases: ["outbox.due"])
    let due = try environment.database("outbox.due")
    try environment.write { t in _ = try t.removeAll(in: due) }
    #expect(try Tool.kvdump("outbox", "verify", store).output.contains("outbox.due has 0 rows"))
  }

  @Test func onlyDeadLettersAreRequeued() throws {
    try fill()
    let waiting = try Tool.kvdump("outbox", "requeue", store, "3")
    #expect(waiting.status == 1 && waiting.errors.contains("entry 3 is waiting, and has not been given up"))
    #expect(try Tool.kvdump("outbox", "requeue", store, "99").status == 1)
  }

  private func set(layout: [UInt8]) throws {
    let environment = try Environment.open(at: store, databases: ["outbox.meta"])
    let meta = try environment.database("outbox.meta")
    try environment.write { try $0.set(layout, forKey: "layout", in: meta) }
  }

  @Test func anOutboxWithoutAReadableLayoutIsDamaged() throws {
    try fill()
    try set(layout: [3, 0, 0, 0])
    let verify = try Tool.kvdump("outbox", "verify", store)
    #expect(verify.status == 65 && verify.errors.contains("layout cannot be read"), "\(verify.errors)")
  }

  @Test func anOutboxOfANewerVersionIsNoDamage() throws {
    try fill()
    try set(layout: [9, 0, 0, 0, 0, 0, 0, 0])
    for command in ["list", "stats", "verify", "tail"] {
      let result = try Tool.kvdump("outbox", command, store)
      #expect(result.status == 69 && result.errors.contains("its outbox has layout 9"), "\(command) \(result.errors)")
    }
  }

  /// Cannot get through to the host.
  private struct Unreachable: OutboxSender {
    func send(_ entry: OutboxEntry) async throws -> SendOutcome { .notSent(reason: "no route", closing: .host) }
  }

  @Test func whatHoldsRequestsBackIsShown() async throws {
    do {
      let store = try Store.open(at: store)
      try await store.write { t in
        try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: [1]), in: &t)
      }
      _ = try await store.outbox.drain(with: Unreachable(), options: .init(goal: .once))
      try await store.write { t in
        for scope in [.all, .queue("q\u{1B}"), .lane("l")] as [OutboxScope] { try store.outbox.pause(scope, in: &t) }
      }
    }
    let stats = try lines("outbox", "stats", store)
    let start = try #require(stats.firstIndex(of: "held back:"))
    let reasons = stats[(start + 1)...].prefix(4)
    #expect(
      reasons.starts(with: ["  everything is paused", "  queue q\\x1b is paused", "  lane l is paused"]), "\(stats)")
    #expect(reasons.last?.hasPrefix("  host (the sender's) is closed after failures; one entry may try at 2") == true)
  }

  /// Takes one request, and refuses the others for good.
  private struct Refusing: OutboxSender {
    func send(_ entry: OutboxEntry) async throws -> SendOutcome { .permanent(reason: "no such post") }
  }

  @Test func deadLettersAreSentAgainAndEntriesTakenBack() async throws {
    do {
      let store = try Store.open(at: store)
      try await store.write { t in
        for _ in 1...3 { try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: [1]), in: &t) }
      }
      _ = try await store.outbox.drain(with: Refusing())
    }
    #expect(try lines("outbox", "list", store, "--state", "dead").last == "0 pending, 3 dead")
    #expect(
      try lines("outbox", "show", store, "2").contains { $0.hasPrefix("last error") && $0.hasSuffix("no such post") })
    let requeue = try lines("outbox", "requeue", store, "2")
    #expect(requeue == ["entry 2 waits again, as entry 4"])
    #expect(try lines("outbox", "list", store).last == "1 pending, 2 dead")
    #expect(try Tool.kvdump("outbox", "requeue", store, "2").status == 1)
    #expect(try lines("outbox", "cancel", store, "4") == ["entry 4 is taken back"])
    #expect(try Tool.kvdump("outbox", "cancel", store, "4").status == 1)
    #expect(try lines("outbox", "list", store).last == "0 pending, 2 dead")
    #expect(try lines("outbox", "tail", store, "--limit", "1")[0].contains("cancelled"))
    #expect(try Tool.kvdump("outbox", "cancel", "\(folder.path)/none", "1").status == 66)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/none"))
  }

  @Test func theStateIsShown() throws {
    try fill()
    #expect(try lines("state", "list", store, "--prefix", "post:1", "--limit", "50").count == 13)
    let record = try lines("state", "show", store, "user:1")
    #expect(record.contains("  name  \"Лин\""))
    #expect(try lines("state", "get", store, "user:1", "post:3") == [#"{"n": 3, "name": "Лин", "text": "a\u001bb"}"#])
    #expect(try Tool.kvdump("state", "show", store, "user:2").status == 1)
    let stats = try lines("state", "stats", store)
    #expect(stats.contains { $0.hasPrefix("post ") } && stats.last == "31 records")
    #expect(try lines("state", "verify", store) == ["0 errors, 31 records checked"])
    #expect(try lines("state", "tail", store, "--limit", "1")[1].hasPrefix("user:1"))
  }

  @Test func aDeepCheckReadsTheRecordsToo() throws {
    try fill()
    let sound = try lines("verify", "--deep", store)
    #expect(sound.contains("0 errors, 31 records checked") && sound.last == "0 errors, 30 entries checked")
    let path = "\(store)/data.mdb"
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let text = Data("a\u{1B}b".utf8)
    while let place = data.range(of: text) { data[place.lowerBound] = 0x62 }
    try data.write(to: URL(fileURLWithPath: path))
    #expect(try Tool.kvdump("verify", store).status == 0)
    let deep = try Tool.kvdump("verify", "--deep", store)
    #expect(deep.status == 1 && deep.output.contains("30 errors, 31 records checked") && deep.errors.isEmpty)
    #expect(try Tool.kvdump("verify", "--deep", "--quick", store).status == 64)
    // Somebody else's file has no records to know.
    #expect(try lines("verify", "--deep", Tool.fixture("env/many")).count == 1)
  }

  @Test func damagedRecordsAreNamed() throws {
    try fill()
    // One byte within the value of a record.
    let path = "\(store)/data.mdb"
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let text = Data("a\u{1B}b".utf8)
    while let place = data.range(of: text) { data[place.lowerBound] = 0x62 }
    try data.write(to: URL(fileURLWithPath: path))
    let verify = try Tool.kvdump("state", "verify", store)
    #expect(verify.status == 1 && verify.output.contains("30 errors, 31 records checked"))
    #expect(try Tool.kvdump("state", "show", store, "post:1").status == 65)
    #expect(try Tool.kvdump("state", "get", store, "post:1").status == 65)
  }

  @Test func theCacheIsShown() throws {
    do {
      let cache = try DiskCache.open(at: cache)
      for index in 0..<20 {
        try cache.setValue([UInt8](repeating: 7, count: index * 100), forKey: "thumb:\(index)")
      }
      try cache.setValue([1, 2, 3], forKey: String(repeating: "k", count: 600))
    }
    let before = try Tool.listing(cache)
    let list = try lines("cache", "list", cache, "--prefix", "thumb:", "--limit", "100")
    #expect(list.count == 21 && list[2].hasPrefix("thumb:1 "))
    let entry = try lines("cache", "show", cache, String(repeating: "k", count: 600))
    #expect(
      entry.contains { $0.hasPrefix("size") && $0.hasSuffix("3 B") }
        && entry.last?.hasPrefix("00000000: 0102 03") == true)
    #expect(entry.contains { $0.hasPrefix("last used") && $0.hasSuffix("ago") })
    #expect(entry.contains { $0.split(separator: " ") == ["hits", "0"] })
    #expect(try Tool.kvdump("cache", "show", cache, "none").status == 1)
    #expect(try lines("cache", "stats", cache).contains { $0.hasPrefix("21 entries") })
    #expect(try lines("cache", "verify", cache) == ["0 errors, 21 entries checked"])
    #expect(try lines("cache", "tail", cache, "--limit", "2").count == 3)
    #expect(try Tool.kvdump("info", cache).output.contains("a Holdfast cache"))
    #expect(try Tool.kvdump("cache", "list", Tool.fixture("env/many")).status == 66)
    #expect(try Tool.listing(cache) == before)
  }

  // MARK: The report

  @Test func theReportStandsAlone() throws {
    try fill()
    let page = "\(folder.path)/report.html"
    #expect(try Tool.kvdump("report", "-q", store, page, "--now", "4102444800000").status == 0)
    let html = try Tool.text(page)
    #expect(
      !html.contains("<script") && !html.contains("http://") && !html.contains("https://") && !html.contains("url("))
    #expect(html.contains("2100-01-01T00:00:00Z") && html.contains("prefers-color-scheme:dark"))
    #expect(try Tool.kvdump("report", Tool.fixture("damaged/leaf5-zero"), "\(folder.path)/none.html").status == 65)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/none.html"))
  }

  static let chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(.enabled(if: chromium != nil, "no Chromium here; `apt-get install chromium` brings it"))
  func aBrowserShowsTheReport() throws {
    try fill()
    let page = "\(folder.path)/report.html"
    let image = "\(folder.path)/report.png"
    #expect(try Tool.kvdump("report", "-q", store, page).status == 0)
    let options = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.path)/profile",
      "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1200,1600",
    ]
    let dom = try Command(Self.chromium ?? "", options + ["--dump-dom", "file://\(page)"])
    #expect(dom.status == 0)
    for id in ["space", "databases", "outbox", "sizes"] { #expect(dom.output.contains("<section id=\"\(id)\">")) }
    #expect(dom.output.contains("<th scope=\"row\">outbox.entry</th>"))
    let shot = try Command(Self.chromium ?? "", options + ["--screenshot=\(image)", "file://\(page)"])
    let size = try FileManager.default.attributesOfItem(atPath: image)[.size] as? Int ?? 0
    #expect(shot.status == 0 && size > 20_000)
  }
}
