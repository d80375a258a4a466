import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Stores that earlier versions have written: `Fixtures/layout-N` holds an entry in each phase.
@Suite struct UpgradeTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/store" }

  private func copyFixture() throws {
    try FileManager.default.copyItem(
      atPath: "\(Place.root)/Tests/HoldfastTests/Outbox/Fixtures/layout-1", toPath: path)
  }

  @Test("T17: an outbox of layout 1 is brought up to date and drained")
  func layout1() async throws {
    try copyFixture()
    let store = try Store.open(at: path)
    #expect(try store.outbox.verify().problems == [])
    let pending = try store.outbox.pendingEntries(limit: 99)
    #expect(try pending.map { try $0.entry.get().text } == ["retried", "behind", "held", "in flight", "behind 2"])
    #expect(pending.map(\.phase) == [.waiting, .waiting, .held, .inFlight, .waiting])
    #expect(pending.map(\.attempts) == [1, 0, 1, 1, 0])
    let dead = try store.outbox.deadEntries(limit: 9)
    #expect(dead.map(\.entry.text) == ["dead"] && dead[0].reason == "http 400")
    let keys = try pending.map { try $0.entry.get().idempotencyKey }
    try await store.write { t in _ = try store.outbox.requeue(dead[0].entry.id, in: &t) }
    let sender = ScriptedSender()
    let report = try await store.outbox.drain(with: sender)
    #expect(report.delivered == 6)
    #expect(Set(sender.sent.map(\.idempotencyKey)) == Set(keys + [dead[0].entry.idempotencyKey]))
    let lanes = Dictionary(grouping: sender.sent, by: \.lane).mapValues { $0.map(\.text) }
    #expect(lanes == ["a": ["retried", "behind"], "b": ["dead"], "c": ["held"], "d": ["in flight", "behind 2"]])
    #expect(try store.outboxRows().isEmpty)
  }

  @Test("T1, T17: killed in the migration, it begins anew")
  func killedInTheMigration() async throws {
    try copyFixture()
    for _ in 1...2 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let environment = try Environment.open(at: path, databases: StateStore.databases + Outbox.databases)
        let outbox = try Outbox(environment, time: .real)
        try environment.write { t in
          try outbox.migrate(in: &t)
          kill(getpid(), SIGKILL)
        }
      }
    }
    let store = try Store.open(at: path)
    #expect(try store.outbox.verify().problems == [])
    #expect(try await store.outbox.drain(with: ScriptedSender()).delivered == 5)
  }

  @Test("T17: an outbox of layout 3 goes on with its numbers")
  func layout3() async throws {
    do {
      let store = try Store.open(at: path)
      try store.enqueue(["1", "2", "3"])
      try await store.outbox.drain(with: ScriptedSender())
      try await store.write { t in try makeLayout3(store.outbox, highest: 3, in: &t) }
    }
    // Nothing waits in it, so that it can be read as it is.
    #expect(try Store.open(at: path, isReadOnly: true).outbox.settledThrough()?.rawValue == 3)
    let store = try Store.open(at: path)
    #expect(try store.outbox.settledThrough()?.rawValue == 3)
    #expect(try store.outbox.verify().problems == [])
    #expect(try store.journal().count == 9, "records of both formats are read")
    #expect(try store.enqueue(["4"]).map(\.rawValue) == [4])
  }

  /// The records of format 1, and the highest number of an entry in `outbox.meta`.
  private func makeLayout3(_ outbox: Outbox, highest: UInt64, in t: inout WriteTransaction) throws {
    for key in try t.reader.keys(of: .all, in: outbox.journal.rows, limit: .max) {
      var value: [UInt8] = []
      if let found = try t.value(forKey: key.span, in: outbox.journal.rows) { value = [UInt8](copying: found) }
      try t.set([1] + value[1..<20] + value[28...], forKey: key, in: outbox.journal.rows)
    }
    try outbox.meta.set("sequence", to: highest, in: &t)
    try outbox.meta.set("layout", to: 3, in: &t)
  }

  @Test("T17: a newer layout is refused and left as it is")
  func aNewerLayout() throws {
    do {
      let store = try Store.open(at: path)
      try store.enqueue(["1"])
      try store.write { t in try store.outbox.meta.set("layout", to: 5, in: &t) }
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb"))
    for isReadOnly in [false, true] {
      let error = #expect(throws: StoreError.self) { try Store.open(at: path, isReadOnly: isReadOnly) }
      #expect(error?.code == .unsupportedVersion)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb")) == before)
  }

  @Test func stateRowsOfBothFormatsAreRead() throws {
    var writer = ByteWriter()
    for byte in [1, 3] as [UInt8] { writer.append(byte) }
    for number in [7, 2, 1] as [UInt16] { writer.append(number) }
    writer.append(UInt32(9))
    writer.append(UInt64(4))
    writer.append(Int64(1234))
    writer.append(text: "why")
    let old = try DeliveryState(decoding: writer.bytes.span)
    #expect(old.phase == .held && old.attempts == 7 && old.unsentFailures == 2 && old.uncounted == 1)
    #expect(old.generation == 9 && old.epoch == 4 && old.notBefore == 1234 && old.lastError == "why")
    #expect(old.holdCause == .unfit && old.route == Route.usual)
    #expect(try DeliveryState(decoding: old.encoded.span) == old)
  }
}
