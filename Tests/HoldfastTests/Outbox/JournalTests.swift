import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct JournalTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func tellsALifeFromBeginningToEnd() async throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2"], lane: "a")
    let sender = ScriptedSender { entry, count in
      switch (entry.text, count) {
      case ("1", 1): .transient(reason: "http 503")
      case ("1", _): .delivered(reply: [])
      default: .permanent(reason: "http 400")
      }
    }
    try await store.outbox.drain(with: sender)
    let records = try store.journal()
    #expect(records.map(\.sequence) == Array(1...UInt64(records.count)))
    let lives = ids.map { id in records.filter { $0.entry == id }.map { "\($0.kind) \($0.attempt) \($0.reason)" } }
    #expect(
      lives == [
        ["enqueued 0 ", "claimed 1 ", "retrying 1 http 503", "claimed 2 ", "delivered 2 "],
        ["enqueued 0 ", "claimed 1 ", "died 1 http 400"],
      ])
  }

  @Test func isReadFromAnyPlace() throws {
    let store = try open()
    try store.enqueue(["1", "2", "3"])
    let journal = store.outbox.journal
    let part = try store.read { t in try journal.records(after: 1, limit: 1, in: t) }
    let rest = try store.read { t in try journal.records(after: 3, limit: 10, in: t) }
    let ends = try store.read { t in [try journal.firstSequence(in: t), try journal.lastSequence(in: t)] }
    #expect(part.map(\.sequence) == [2])
    #expect(rest.isEmpty)
    #expect(ends == [1, 3])
  }

  @Test func aTransactionThatIsTakenBackLeavesNoRecord() throws {
    struct Stop: Error {}
    let store = try open()
    #expect(throws: Stop.self) {
      try store.write { t in
        try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: []), in: &t)
        throw Stop()
      }
    }
    #expect(try store.journal().isEmpty)
  }

  @Test(arguments: [[9], [1, 0], [1, 99] + [UInt8](repeating: 0, count: 18)] as [[UInt8]])
  func aRecordThatCannotBeReadIsATypedError(_ garbage: [UInt8]) throws {
    let store = try open()
    try store.enqueue(["1"])
    try store.write { t in try t.set(garbage, forKey: UInt64(1).bigEndianBytes, in: store.outbox.journal.rows) }
    #expect { try store.journal() } throws: { ($0 as? StoreError)?.code == .corruptRecord }
  }

  @Test func aLongReasonIsCutBetweenCharacters() {
    #expect("ab".cut(toBytes: 2) == "ab")
    #expect("aäb".cut(toBytes: 2) == "a")
    #expect("aäb".cut(toBytes: 3) == "aä")
    #expect("".cut(toBytes: 0) == "")
    #expect("ä".cut(toBytes: 1) == "")
  }

  @Test func aBacklogThatIsFilledAgainDoesNotGrowTheFile() async throws {
    let path = "\(directory.path)/store"
    let store = try Store.open(at: path, time: time.time, options: .init(durability: .unsafeNoSync))
    let payload = [UInt8](repeating: 7, count: 200)
    var sizes: [Int] = []
    for _ in 0..<2 {
      for _ in 0..<6 {
        try store.commit { t in
          for n in 0..<1000 {
            try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "\(n)", payload: payload), in: &t)
          }
        }
      }
      sizes.append(try FileManager.default.attributesOfItem(atPath: "\(path)/data.mdb")[.size] as? Int ?? 0)
      try await store.outbox.drain(
        with: ScriptedTaker(), options: .init(concurrency: 256, journal: JournalRetention(minimum: 500)))
      #expect(try store.outbox.counts().pending == 0)
    }
    #expect(sizes[1] * 100 <= sizes[0] * 105, "\(sizes)")
    #expect(try store.outbox.metrics().journalRecords < 500 + Outbox.trimmingStep)
  }
}

/// For whom everything has arrived at once.
private struct ScriptedTaker: OutboxSender {
  func send(_ entry: OutboxEntry) async -> SendOutcome { .delivered(reply: []) }
}
