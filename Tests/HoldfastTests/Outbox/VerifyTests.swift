import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct VerifyTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  /// A store with entries in every phase.
  private func makeStore() async throws -> Store {
    let store = try open()
    let file = try store.outbox.stage([1], name: "a", mediaType: "b")
    for n in 1...6 {
      try store.enqueue("\(n)", lane: "\(n / 2)") {
        ($0.key, $0.maxAge, $0.host) = ("k\(n)", .seconds(1000), "h")
        if n == 2 { $0.attachments = [file] }
      }
    }
    try store.enqueue("dead", lane: "d") { _ in }
    try store.enqueue("held", lane: "e") { $0.recovery = .hold }
    try await store.write { t in try store.outbox.pause(.lane("3"), in: &t) }
    let sender = ScriptedSender { entry, _ in
      switch entry.text {
      case "dead": .permanent(reason: "http 400")
      case "held": .ambiguous(reason: "the reply was lost")
      default: .transient(reason: "http 503")
      }
    }
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    time.pass(.seconds(10))
    _ = try store.claimAnew()
    return store
  }

  @Test func aSoundOutboxHasNoProblems() async throws {
    let store = try await makeStore()
    #expect(try store.outbox.verify().problems == [])
    #expect(try store.outbox.metrics().dead == 1)
    for name in ["run", "gate", "pause", "dead", "key", "expiry", "attachment"] {
      let rows = try store.outboxRows()["outbox.\(name)"] ?? 0
      #expect(name == "gate" || rows > 0, "\(name) is tested")
    }
  }

  @Test(arguments: ["due", "lane", "key", "expiry", "run", "attachment", "state"])
  func missingRowsAreFoundAndMade(_ name: String) async throws {
    let store = try await makeStore()
    try await store.write { t in
      let database = try store.environment.database("outbox.\(name)")
      try t.removeAll(in: database)
    }
    #expect(try store.outbox.verify().count > 0)
    let report = try store.outbox.verify(repair: true)
    #expect(report.count > 0 && report.repaired > 0)
    #expect(try store.outbox.verify().problems == [])
    try await store.write { t in
      try store.outbox.resume(.lane("3"), in: &t)
      try store.outbox.resolve(EntryID(rawValue: 8), as: .resend, in: &t)
    }
    let sender = ScriptedSender()
    // A state that was lost says nothing of an entry that was sent: it is held once, and released by the next drain.
    try await store.outbox.drain(with: sender)
    try await store.outbox.drain(with: sender)
    #expect(Set(sender.sent.map(\.text)) == ["1", "2", "3", "4", "5", "6", "held"])
    #expect(try store.outboxRows() == ["outbox.dead": 1])
  }

  @Test(arguments: ["due", "lane", "key", "expiry", "run", "attachment", "state", "ack"])
  func strayRowsAreFoundAndRemoved(_ name: String) async throws {
    let store = try await makeStore()
    let key: [UInt8] =
      switch name {
      case "state": EntryID(rawValue: 99).key.array
      case "lane", "key", "attachment":
        [UInt8](repeating: 7, count: 16) + (name == "attachment" ? [] : EntryID(rawValue: 4).key.array)
      case "due": DueKey(route: 9, priority: 2, time: 0, id: EntryID(rawValue: 5)).bytes.array
      default: [UInt8](repeating: 0, count: 8) + EntryID(rawValue: 4).key.array
      }
    try await store.write { t in
      try t.set(EntryID(rawValue: 99).key.array, forKey: key, in: store.environment.database("outbox.\(name)"))
    }
    #expect(try store.outbox.verify().count == 1)
    #expect(try store.outbox.verify(repair: true).repaired == 1)
    #expect(try store.outbox.verify().problems == [])
  }

  @Test func forgedRowsOfEntriesBehindTheHeadSendNothing() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2", "3"], lane: "a")
    try await store.write { t in
      for id in ids {
        for (route, priority, time) in [(Route.usual, 2, 0), (Route.usual, 1, 5), (3, 0, 0), (.max, 255, 0)] {
          let key = DueKey(route: route, priority: UInt8(priority), time: Int64(time), id: id)
          try t.set([], forKey: key.bytes, in: store.outbox.due)
        }
        // The row that it would have if it were the head.
        let state = try #require(try store.outbox.state(of: id, in: t.reader))
        try t.set([], forKey: DueKey(state, id).bytes, in: store.outbox.due)
      }
    }
    let sender = ScriptedSender { entry, count in
      entry.text == "1" && count < 3 ? .transient(reason: "no") : .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1", "1", "1", "2", "3"])
    #expect(try store.outboxRows().isEmpty)
  }

  @Test(arguments: [
    [9], [127] + [UInt8](repeating: 255, count: 7), [128, 0, 0, 0, 0, 0, 0, 0], [UInt8](repeating: 255, count: 8),
  ])
  func aJournalThatTakesNothingIsPutRight(_ key: [UInt8])
    async throws
  {
    let store = try open()
    try store.enqueue(["1"])
    try await store.write { t in try t.set([], forKey: key, in: store.outbox.journal.rows) }
    #expect(throws: StoreError.self) { try store.enqueue(["2"]) }
    #expect(try store.outbox.verify(repair: true).repaired == 1)
    #expect(try store.outbox.verify().problems == [])
    try store.enqueue(["2"])
    #expect(try store.journal().map(\.sequence) == [1, 2])
  }

  /// The end of the journal is lost, as by a repair of the file, and with it the number of the newest entry.
  @Test func aNumberIsNotGivenTwice() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2", "3", "4"], lane: "a")
    try await store.write { t in
      for number in [3, 4] as [UInt64] { try t.remove(number.bigEndianBytes, in: store.outbox.journal.rows) }
    }
    #expect { try store.enqueue(["5"]) } throws: { ($0 as? StoreError)?.code == .corruptRecord }
    #expect(try store.outbox.verify().count == 1)
    #expect(try store.outbox.verify(repair: true).repaired == 1)
    #expect(try store.outbox.verify().problems == [])
    #expect(try store.enqueue(["5"], lane: "a").first == EntryID(rawValue: 5))
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1", "2", "3", "4", "5"] && sender.sent.map(\.id).starts(with: ids))
  }

  @Test(arguments: [true, false]) func aLostJournalIsBegunAnewBehindWhatIsThere(_ isLost: Bool) async throws {
    let store = try open()
    try store.enqueue(["1", "2"])
    try store.enqueue("3", lane: "dead") { _ in }
    try await store.outbox.drain(
      with: ScriptedSender { entry, _ in entry.text == "3" ? .permanent(reason: "no") : .unsendable(reason: "no") })
    try await store.write { t in
      let last = try #require(try t.reader.keys(of: .all, in: store.outbox.journal.rows, limit: .max).last)
      if isLost {
        try t.removeAll(in: store.outbox.journal.rows)
      } else {
        try t.set([9], forKey: last, in: store.outbox.journal.rows)
      }
    }
    #expect(try store.enqueue(["4"]).map(\.rawValue) == [4])
    #expect(try store.outbox.counts().pending == 3)
  }

  /// An entry that cannot be read keeps its rows; what only ends in its number is none of them.
  @Test(arguments: ["key", "expiry", "run"]) func rowsOfAWrongLengthAreStray(_ name: String) async throws {
    let store = try await makeStore()
    let id = EntryID(rawValue: 3)
    try await store.write { t in
      try t.set([9], forKey: id.key, in: store.outbox.entries)
      try t.set([], forKey: [1, 2, 3] + id.key.array, in: store.environment.database("outbox.\(name)"))
    }
    #expect(try store.outbox.verify(repair: true).repaired == 1)
    try store.environment.read { t in
      let key = [1, 2, 3] + id.key.array
      let isThere = try t.value(forKey: key.span, in: store.environment.database("outbox.\(name)")) != nil
      #expect(!isThere)
    }
  }

  @Test func whatIsInFlightIsOneRow() async throws {
    let store = try open()
    for n in 1...3 { try store.enqueue(["\(n)"], lane: "\(n)") }
    let seen = Monitor<[[UInt64]]>([])
    let sender = ScriptedSender { _, _ in
      let rows = try store.read { t in try store.outbox.claimed(in: t).rows }
      seen.update { $0.append(rows.flatMap(\.ids).map(\.rawValue)) }
      #expect(rows.count == 1 && rows[0].isList)
      #expect(try store.outbox.verify().problems == [])
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender)
    #expect(seen.update { $0 }.first == [1, 2, 3])
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func aListThatNamesWhatIsNotInFlightIsPutRight() async throws {
    let store = try open()
    for n in 1...3 { try store.enqueue(["\(n)"], lane: "\(n)") }
    let claim = try #require(try store.claimAnew())
    try await store.write { t in
      try store.outbox.setInFlight(
        [claim.entry.id, EntryID(rawValue: 2), EntryID(rawValue: 77)], epoch: claim.epoch, in: &t)
      try store.outbox.setInFlight([EntryID(rawValue: 3)], epoch: 99, in: &t)
    }
    #expect(try store.outbox.verify(repair: true).repaired == 2)
    #expect(try store.outbox.verify().problems == [])
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(Set(sender.sent.map(\.text)) == ["1", "2", "3"])
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func damagedRowsAreNamedAndLeftAlone() async throws {
    let store = try await makeStore()
    try await store.write { t in
      for (name, key) in [
        ("entry", EntryID(rawValue: 3).key.array), ("dead", EntryID(rawValue: 7).key.array),
        ("log", UInt64(1).bigEndianBytes),
      ] {
        try t.set([9], forKey: key, in: store.environment.database("outbox.\(name)"))
      }
    }
    let before = try store.outbox.verify()
    #expect(before.count == 3, "\(before.problems)")
    _ = try store.outbox.verify(repair: true)
    #expect(try store.outbox.verify().count == 3)
    #expect(try store.outbox.counts().dead == 1)
  }

  @Test func anEntryThatCannotBeReadCanBeRemoved() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2"], lane: "a")
    try await store.write { t in try t.set([9], forKey: ids[0].key, in: store.outbox.entries) }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.isEmpty)
    #expect(try await store.write { t in try store.outbox.cancel(.entry(ids[0]), in: &t) } == 1)
    #expect(try store.outbox.verify().problems == [])
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["2"])
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func metricsCountWhatIsThere() async throws {
    let store = try await makeStore()
    let metrics = try store.outbox.metrics()
    #expect(metrics.pending == 7 && metrics.held == 1 && metrics.inFlight == 1 && metrics.attachments == 1)
    #expect(metrics.journalRecords == (try store.journal().count))
    #expect(metrics.oldestCreatedAt != nil)
    #expect(metrics.pauses == (try store.outbox.pausedScopes().count))
    let total = try store.outbox.counts()
    #expect(total.pending == metrics.pending && total.dead == metrics.dead)
    try await store.write { t in try store.outbox.pause(.host("another"), in: &t) }
    let paused = try store.outbox.metrics()
    #expect(paused.pauses == metrics.pauses + 1 && paused.offered == metrics.offered)
  }
}
