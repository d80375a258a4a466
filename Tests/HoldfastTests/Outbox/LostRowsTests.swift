import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Rows of indexes are lost, as by a repair of a damaged file, and a drain tells.
@Suite struct LostRowsTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store {
    try Store.open(at: "\(directory.path)/store", time: time.time, options: .init(durability: .unsafeNoSync))
  }

  /// Drains, and returns what was told of lost rows, by the report and by events.
  private func told(
    _ store: Store, _ goal: Outbox.DrainOptions.Goal = .idle, with sender: ScriptedSender = ScriptedSender()
  ) async throws -> [String] {
    let events = Monitor<[String]>([])
    let report = try await store.outbox.drain(
      with: sender,
      options: .init(
        goal: goal,
        onEvent: { event in if case .rowsLost(let reason) = event { events.update { $0.append(reason) } } }))
    let reasons = events.update { $0 }
    #expect(report.rowsLost == reasons.last)
    return reasons
  }

  @Test(arguments: ["due", "lane", "run"]) func aDrainTellsWhichRowsAreLost(_ name: String) async throws {
    let store = try open()
    try store.enqueue(["1", "2"], lane: "a")
    if name == "run" { _ = try store.claimAnew() }
    try store.enqueue(["3"], lane: "b")
    try await store.write { t in _ = try t.removeAll(in: store.environment.database("outbox.\(name)")) }
    let reasons = try await told(store, name == "due" ? .idle : .once)
    #expect(reasons.count == 1)
    #expect(reasons.first?.contains("outbox.\(name)") ?? false, "\(reasons)")
    #expect(reasons.first?.contains("verify(repair: true)") ?? false)
    #expect(try store.outbox.verify(repair: true).repaired > 0)
    #expect(try await told(store).isEmpty)
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func aSingleRowThatIsLostIsFoundWhenTheOthersAreDelivered() async throws {
    let store = try open()
    for n in 0..<200 { try store.enqueue(["\(n)"], lane: "lane \(n)") }
    try await store.write { t in
      let key = try t.reader.keys(of: .all, in: store.outbox.due, limit: 120)[119]
      try t.remove(key, in: store.outbox.due)
    }
    let sender = ScriptedSender()
    #expect(try await told(store, with: sender).count == 1)
    #expect(sender.sent.count == 199)
  }

  @Test func nothingIsToldOfWhatMayWait() async throws {
    let store = try open()
    try store.enqueue("held", lane: "held") { $0.recovery = .hold }
    try store.enqueue("later", lane: "later") { $0.delay = .seconds(1000) }
    try store.enqueue("gate", lane: "gate") { $0.host = "h" }
    for lane in ["held", "later", "lane", "gate", "unfit"] { try store.enqueue(["\(lane) 2"], lane: lane) }
    try store.enqueue("queue", lane: "queue") { $0.queue = "q" }
    try await store.write { t in
      try store.outbox.pause(.lane("lane"), in: &t)
      try store.outbox.pause(.queue("q"), in: &t)
    }
    let sender = ScriptedSender { entry, _ in
      switch entry.text {
      case "held": .ambiguous(reason: "lost")
      case "gate": .postponed(reason: "busy", closing: .host, retryAfter: .seconds(100))
      case "unfit 2": .unsendable(reason: "no")
      default: .transient(reason: "http 500")
      }
    }
    for _ in 0..<3 { #expect(try await told(store, .once, with: sender).isEmpty) }
    // One that cannot be read is held, and told as such.
    try await store.write { t in
      let first = try t.reader.keys(of: .all, in: store.outbox.entries, limit: 1)[0]
      try t.set([9], forKey: first, in: store.outbox.entries)
    }
    #expect(try await told(store, .once, with: sender).isEmpty)
  }

  /// HOLDFAST_SEED repeats a run.
  @Test func randomLivesRaiseNoAlarmAndLostRowsDo() async throws {
    let first = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    var toldOf = 0
    for seed in first..<first + 8 {
      var random = Seeded(seed)
      let store = try Store.open(
        at: "\(directory.path)/\(seed)", time: time.time, options: .init(durability: .unsafeNoSync))
      for _ in 0..<12 {
        try step(store, &random)
        let reasons = try await told(store, .once, with: moody(random.next()))
        #expect(reasons.isEmpty, "seed \(seed): \(reasons)")
        time.pass(.seconds(Int.random(in: 0..<40, using: &random)))
      }
      #expect(try store.outbox.verify().problems == [], "seed \(seed)")
      try store.enqueue(["last"], lane: "last")
      let place = Int.random(in: 0..<99, using: &random)
      try await store.write { t in
        let keys = try t.reader.keys(of: .all, in: store.outbox.due, limit: 99)
        try t.remove(keys[place % keys.count], in: store.outbox.due)
      }
      let reasons = try await told(store, .once, with: moody(random.next()))
      // An entry whose time is over meanwhile puts its lane right when it ends.
      let isRightAgain = try store.outbox.verify().problems.isEmpty
      #expect(reasons.count == 1 || isRightAgain, "seed \(seed)")
      toldOf += reasons.count
    }
    #expect(toldOf > 4, "seed \(first)")
  }

  private func step(_ store: Store, _ random: inout Seeded) throws {
    let lane = "\(Int.random(in: 0..<5, using: &random))"
    try store.enqueue("x", lane: lane) {
      $0.delay = .seconds(Int.random(in: 0..<3, using: &random) * 30)
      $0.recovery = Bool.random(using: &random) ? .hold : .resend
      if Bool.random(using: &random) { $0.maxAge = .seconds(60) }
      if Bool.random(using: &random) { ($0.key, $0.conflict) = ("k", .replace) }
    }
    let pending = try store.outbox.pendingEntries(limit: .max)
    let choice = Int.random(in: 0..<6, using: &random)
    try store.write { t in
      switch choice {
      case 0: try store.outbox.pause(.lane(lane), in: &t)
      case 1: try store.outbox.resume(.lane(lane), in: &t)
      case 2: try store.outbox.cancel(.lane(lane), in: &t)
      case 3:
        for item in pending where item.phase == .held { try store.outbox.resolve(item.id, as: .resend, in: &t) }
      default: break
      }
    }
  }

  private func moody(_ seed: UInt64) -> ScriptedSender {
    ScriptedSender { entry, count in
      var random = Seeded(seed ^ entry.id.rawValue &* 7919 &+ UInt64(count))
      switch Int.random(in: 0..<7, using: &random) {
      case 0: return .transient(reason: "http 500")
      case 1: return .permanent(reason: "http 400")
      case 2: return .ambiguous(reason: "lost")
      case 3: return .unsendable(reason: "no")
      case 4: return .notSent(reason: "offline", closing: .host)
      default: return .delivered(reply: [])
      }
    }
  }
}
