import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// T1: a process is killed at each point again and again, and nothing is lost, made up, done twice, out of order or left
/// over; the invariants hold at every reopening.
///
/// `HOLDFAST_KILLS` says how many kills each point gets; `HOLDFAST_SEED` where the random numbers begin.
@Suite struct KillTests {
  private static let kills = setting("HOLDFAST_KILLS", or: 2)
  private static let seed = UInt64(setting("HOLDFAST_SEED", or: 1))

  private let directory = TemporaryDirectory()

  @Test("T1: killed at each point, nothing is lost", arguments: KillPoint.allCases.filter { $0 != .never })
  func nothingIsLost(at point: KillPoint) async throws {
    let path = directory.path
    for kill in 0..<UInt64(Self.kills) {
      let seed = Self.seed &* 1_000_003 &+ kill
      // The signal proves that the point was reached: a life that is not killed ends otherwise.
      await #expect(processExitsWith: .signal(SIGKILL), "\(point), kill \(kill), HOLDFAST_SEED=\(Self.seed)") {
        [path = path as String, point = point as KillPoint, seed = seed as UInt64] in
        var life = try CrashLife(path, point, seed: seed)
        try await life.run()
      }
      try checkInvariants(path, "\(point), kill \(kill), HOLDFAST_SEED=\(Self.seed)")
    }
    try await finish(path)
  }

  /// What must hold at any time: the records and the outbox were written together.
  private func checkInvariants(_ path: String, _ comment: Comment) throws {
    let store = try Store.open(at: "\(path)/store")
    let effects = try CrashServer("\(path)/server").log()
    #expect(try store.outbox.verify().problems == [], comment)
    let pending = try store.outbox.pendingEntries(limit: .max).map { try $0.entry.get().text }
    let dead = try store.outbox.deadEntries(limit: .max).map(\.entry.text)
    var states: [String: String] = [:]
    for text in try texts(store) { states[text] = try state(of: text, store) }
    #expect(pending.sorted() == states.filter { $0.value == "waiting" }.map(\.key).sorted(), comment)
    #expect(dead.sorted() == states.filter { $0.value == "failed" }.map(\.key).sorted(), comment)
    let done = effects.map(\.text)
    #expect(Set(done).count == done.count, "done twice: \(comment)")
    #expect(Set(effects.map(\.key)).count == effects.count, comment)
    for (text, state) in states where state == "sent" { #expect(done.contains(text), "lost \(text): \(comment)") }
    for text in done {
      #expect(["sent", "waiting", "failed"].contains(states[text]), "phantom \(text): \(comment)")
    }
    for (lane, effects) in Dictionary(grouping: effects, by: \.lane) {
      #expect(effects.map(\.entry) == effects.map(\.entry).sorted(), "out of order in \(lane): \(comment)")
    }
    let sequence = try store.journal().filter { $0.kind == .enqueued || $0.reason.hasPrefix("was ") }.map(
      \.entry.rawValue)
    #expect(sequence == Array(1...UInt64(max(1, sequence.count))).prefix(sequence.count).map { $0 }, "gap: \(comment)")
  }

  /// Drains to the end, and looks for what is left over.
  private func finish(_ path: String) async throws {
    let store = try Store.open(at: "\(path)/store")
    let server = try CrashServer("\(path)/server")
    let sender = ScriptedSender { entry, _ in
      try server.take(entry)
      return .delivered(reply: [])
    }
    let hooks = OutboxHooks(
      onCommit: { entry, _, t in try store.state.update(CrashLife.key(entry.text), ["state": "sent"], in: &t) },
      onRollback: { entry, _, t in try store.state.update(CrashLife.key(entry.text), ["state": "failed"], in: &t) })
    while try store.outbox.counts().pending > 0 {
      try await store.outbox.drain(with: sender, hooks: hooks)
      for held in try store.outbox.pendingEntries(limit: .max) where held.phase == .held {
        #expect(held.lastError.contains("process has ended"))
        try await store.write { t in try store.outbox.resolve(held.id, as: .resend, in: &t) }
      }
    }
    try checkInvariants(path, "at the end")
    let rows = try store.outboxRows()
    #expect(Set(rows.keys).isSubset(of: ["outbox.dead", "outbox.attachment"]))
    let kept = try store.outbox.deadEntries(limit: .max).flatMap(\.entry.attachments).count
    let files = try? FileSystem.names(in: "\(path)/store/attachments")
    #expect((files ?? []).count == kept, "files are left over")
  }

  private func texts(_ store: Store) throws -> [String] {
    try store.journal().isEmpty ? [] : try allKeys(store)
  }

  private func allKeys(_ store: Store) throws -> [String] {
    let records = try store.environment.database("state.record")
    return try store.read { t in
      var found: [String] = []
      var cursor = try t.cursor(in: records)
      while try cursor.next() {
        found.append(String(String(decoding: [UInt8](copying: cursor.key), as: UTF8.self).dropFirst(3)))
      }
      return found
    }
  }

  private func state(of text: String, _ store: Store) throws -> String? {
    try store.state.merged([CrashLife.key(text)])["state"]?.stringValue
  }
}
