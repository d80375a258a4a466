import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct DamageTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test(
    arguments: [
      ("outbox.due", [UInt8](repeating: 0, count: 15) + [1]),
      ("outbox.due", [UInt8](repeating: 255, count: 8) + [0, 0, 0, 0, 0, 0, 0, 1]),
      ("outbox.due", [0]), ("outbox.due", [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 99]),
      ("outbox.run", [1, 2]),
      ("outbox.lane", [3]),
    ] as [(String, [UInt8])])
  func strayRowsSendNothingTwice(_ name: String, _ key: [UInt8]) async throws {
    let store = try open()
    try store.enqueue(["1", "2"], lane: "a")
    try await store.write { t in
      try t.set([], forKey: key, in: store.environment.database(name))
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.map(\.text) == ["1", "2"])
  }

  @Test func shortKeysOfALaneAndAKeyNameNothing() async throws {
    let store = try open()
    try store.enqueue("1", lane: "a") { $0.key = "k" }
    try await store.write { t in
      for index in [store.outbox.lanes, store.outbox.keys] {
        let row = try t.reader.keys(of: .all, in: index, limit: 1)[0]
        try t.set([], forKey: Array(row.dropLast(3)), in: index)
      }
    }
    try store.enqueue("2", lane: "a") { ($0.key, $0.conflict) = ("k", .replace) }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["2"])
  }

  @Test func aCounterAtItsEndIsATypedError() async throws {
    let store = try open()
    try await store.write { t in
      let highest = EntryID(rawValue: .max)
      try store.outbox.journal.append(.enqueued, highest, isNew: true, at: 0, in: &t)
      try store.outbox.meta.set("epoch", to: .max, in: &t)
    }
    #expect { try store.enqueue(["1"]) } throws: { ($0 as? StoreError)?.code == .corruptRecord }
    await #expect { try await store.outbox.drain(with: ScriptedSender()) } throws: {
      ($0 as? StoreError)?.code == .corruptRecord
    }
  }

  @Test func anEntryThatIsGoneIsListedAndCounted() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2"])
    try await store.write { t in
      try t.remove(ids[0].key, in: store.environment.database("outbox.entry"))
    }
    #expect(try await store.outbox.drain(with: ScriptedSender()).held == 1)
    #expect(try store.outbox.counts().pending == 2)
    #expect(try store.outbox.pendingEntries(limit: 9).map(\.phase) == [.held, .waiting])
  }

  @Test func anEntryThatCannotBeReadIsHeldAndOthersGoOn() async throws {
    let store = try open()
    try store.enqueue(["1"], lane: "a")
    try store.enqueue(["2"], lane: "b")
    try await store.write { t in
      let entries = try store.environment.database("outbox.entry")
      try t.set([9, 9, 9], forKey: EntryID(rawValue: 1).key, in: entries)
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["2"])
    #expect(try store.outboxRows()["outbox.state"] == 1)
  }

  /// Whatever stands in the outbox's databases, a drain ends, and sends what can be read.
  @Test(arguments: Outbox.databases.filter { $0 != "outbox.meta" }, [[], [9], [UInt8](repeating: 255, count: 60)])
  func damagedRowsHoldUpNobodyElse(_ name: String, _ garbage: [UInt8]) async throws {
    let store = try open()
    try store.enqueue(["1"], lane: "a")
    try store.enqueue(["2"], lane: "b")
    let hasDamage = try await store.write { t in
      let database = try store.environment.database(name)
      var keys: [[UInt8]] = []
      do {
        var cursor = try t.cursor(in: database)
        while try cursor.next() { keys.append([UInt8](copying: cursor.key)) }
      }
      guard let first = keys.first else { return false }
      try t.set(garbage, forKey: first, in: database)
      return true
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text).contains("2"))
    if hasDamage, ["outbox.entry", "outbox.state"].contains(name) {
      let held = try store.outbox.pendingEntries(limit: 10)
      #expect(held.map(\.id.rawValue) == [1] && held.map(\.phase) == [.held])
    } else {
      #expect(sender.sent.count == 2)
    }
  }
}
