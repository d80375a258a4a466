import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Rows that no version has written: whatever stands in the file, each call ends, with a result or a typed error.
///
/// `HOLDFAST_ROUNDS` says how many stores are damaged (60); `HOLDFAST_SEED` where the random numbers begin.
@Suite struct HostileRowsTests {
  private static let rounds = setting("HOLDFAST_ROUNDS", or: 60)
  private static let seed = UInt64(setting("HOLDFAST_SEED", or: 1))

  private let directory = TemporaryDirectory()
  private let time = TestTime()

  /// A store with entries in every phase, and promises over records.
  private func makeStore(_ path: String) async throws -> Store {
    let store = try Store.open(at: path, time: time.time, options: .init(durability: .unsafeNoSync))
    let file = try store.outbox.stage([1, 2, 3], name: "a", mediaType: "b")
    try store.update("post:1", ["title": "t"])
    for n in 1...9 {
      try store.enqueue("\(n)", lane: "lane \(n % 3)") {
        $0.key = "key \(n % 2)"
        $0.optimistic = ["post:1": ["n": .int(Int64(n))], "other:\(n)": ["is": true]]
        if n == 4 { $0.attachments = [file] }
        if n == 5 { $0.maxAge = .seconds(60) }
        if n == 6 { $0.host = "h" }
      }
    }
    let sender = ScriptedSender { entry, _ in
      switch entry.text {
      case "1": .permanent(reason: "http 400")
      case "2": .unsendable(reason: "unknown")
      case "6": .postponed(reason: "busy", closing: .host)
      default: .transient(reason: "http 500")
      }
    }
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    _ = try store.claimAnew()
    try store.commit { t in
      try store.outbox.pause(.lane("lane 1"), in: &t)
      let cursor = try store.outbox.replayCursor("c", from: .start, in: &t)
      try cursor.commit([3], in: &t)
    }
    return store
  }

  /// Damages one row of one database, or adds one.
  private func damage(_ store: Store, using random: inout Seeded) throws -> String {
    let name = (Outbox.databases + StateStore.databases).randomElement(using: &random)!
    let database = try store.environment.database(name)
    let rows = try store.read { t in
      var rows: [([UInt8], [UInt8])] = []
      var cursor = try t.cursor(in: database)
      while try cursor.next() { rows.append(([UInt8](copying: cursor.key), [UInt8](copying: cursor.value))) }
      return rows
    }
    func garbage(_ limit: Int) -> [UInt8] {
      (0..<Int.random(in: 1...limit, using: &random)).map { _ in
        [0, 1, 127, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
      }
    }
    func changed(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
      case 1: bytes += garbage(9)
      case 2 where bytes.count >= 8:
        // A number at its end, wherever one may be.
        let start = Int.random(in: 0...bytes.count - 8, using: &random)
        let number = [UInt64.max, UInt64(Int64.max), 1 << 63, 0].randomElement(using: &random)!
        bytes.replaceSubrange(start..<start + 8, with: number.bigEndianBytes)
        if Bool.random(using: &random) { bytes[start..<start + 8].reverse() }
      default:
        for _ in 0..<3 where !bytes.isEmpty {
          bytes[Int.random(in: bytes.indices, using: &random)] = garbage(1)[0]
        }
      }
      return bytes
    }
    var text = name
    try store.commit { t in
      guard let (key, value) = rows.randomElement(using: &random) else {
        return try t.set(garbage(40), forKey: garbage(30), in: database)
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        text += " removed"
        try t.remove(key, in: database)
      case 1:
        text += " garbage"
        try t.set(garbage(60), forKey: garbage(40), in: database)
      case 2:
        text += " key"
        let other = changed(key)
        if !other.isEmpty { try t.set(value, forKey: other, in: database) }
      case 3:
        text += " swapped"
        try t.set(rows.randomElement(using: &random)!.1, forKey: key, in: database)
      default:
        text += " value"
        try t.set(changed(value), forKey: key, in: database)
      }
    }
    return text
  }

  /// Makes a call, whose failures must be typed.
  private func attempt(_ what: Comment, _ body: () async throws -> Void) async {
    do { try await body() } catch is StoreError {} catch { Issue.record(error, what) }
  }

  @Test("T9: whatever stands in a row, each call ends with a result or a typed error")
  func everyCallEnds() async throws {
    for round in 0..<UInt64(Self.rounds) {
      var random = Seeded(Self.seed &* 1_000_003 &+ round)
      let store = try await makeStore("\(directory.path)/\(round)")
      var damages: [String] = []
      for _ in 0..<Int.random(in: 1...4, using: &random) { damages.append(try damage(store, using: &random)) }
      let what: Comment = "\(damages), round \(round), HOLDFAST_SEED=\(Self.seed)"
      let outbox = store.outbox
      await attempt(what) { _ = try outbox.metrics() }
      await attempt(what) { _ = try outbox.verify() }
      await attempt(what) { _ = try outbox.replayPositions() }
      await attempt(what) { _ = try outbox.pausedScopes() }
      await attempt(what) { _ = try outbox.settledThrough() }
      await attempt(what) { for letter in try outbox.deadEntries(limit: 9) { _ = letter.reason } }
      await attempt(what) { try store.state.verify() }
      for key: StateKey in ["post:1", "other:5"] { await attempt(what) { _ = try store.state.merged([key]) } }
      await attempt(what) {
        let cursor = try store.commit { try outbox.replayCursor("c", from: .start, in: &$0) }
        let records = try cursor.next(limit: 99)
        try store.commit { try cursor.commit(records, in: &$0) }
      }
      await attempt(what) {
        try await outbox.drain(with: ScriptedSender(), options: .init(goal: .once, pollInterval: nil))
      }
      await attempt(what) {
        _ = try store.commit { try outbox.trimJournal(JournalRetention(minimum: 1, limit: 1), in: &$0) }
      }
      await attempt(what) { _ = try store.commit { try outbox.replayCursor("d", from: .at(2), in: &$0) } }
      await attempt(what) { try store.commit { try outbox.resume(.lane("lane 1"), in: &$0) } }
      for id in [1, 2, 5] as [UInt64] {
        await attempt(what) { try store.commit { try outbox.resolve(EntryID(rawValue: id), as: .resend, in: &$0) } }
        await attempt(what) { try store.commit { _ = try outbox.requeue(EntryID(rawValue: id), in: &$0) } }
      }
      time.pass(.seconds(3600))
      await attempt(what) {
        try await outbox.drain(with: ScriptedSender(), options: .init(goal: .once, pollInterval: nil))
      }
      await attempt(what) { _ = try outbox.verify(repair: true) }
      await attempt(what) { try store.state.verify(repair: true) }
      await attempt(what) { _ = try store.commit { try store.state.purge(in: &$0) } }
      for entry in (try? outbox.pendingEntries(limit: 99)) ?? [] {
        do { try store.commit { _ = try outbox.cancel(.entry(entry.id), in: &$0) } } catch {
          Issue.record(error, "an entry that cannot be taken back: \(what)")
        }
      }
      await attempt(what) { try store.enqueue("new", lane: "new") { $0.optimistic = ["post:1": ["last": true]] } }
      await attempt(what) { try await outbox.drain(with: ScriptedSender(), options: .init(pollInterval: nil)) }
    }
  }
}
