import LMDB

@testable import Holdfast

/// Answers each attempt by script, and keeps a record of what it was asked to send.
final class ScriptedSender: OutboxSender {
  private let attempts = Monitor<[OutboxEntry]>([])
  private let script: @Sendable (OutboxEntry, Int) async throws -> SendOutcome

  /// - Parameter script: Gets the entry and how often it has been sent, from 1.
  init(_ script: @escaping @Sendable (OutboxEntry, Int) async throws -> SendOutcome = { _, _ in .delivered(reply: []) })
  {
    self.script = script
  }

  var sent: [OutboxEntry] { attempts.update { $0 } }

  func send(_ entry: OutboxEntry) async throws -> SendOutcome {
    let count = attempts.update { attempts in
      attempts.append(entry)
      return attempts.count { $0.id == entry.id }
    }
    return try await script(entry, count)
  }
}

/// A clock that jumps to the end of each sleep.
final class TestTime: Sendable {
  private let clock = Monitor<Int64>(1_000_000)
  private let naps = Monitor<[Duration]>([])

  var sleeps: [Duration] { naps.update { $0 } }

  var time: SystemTime {
    SystemTime(
      now: { self.clock.update { $0 } },
      sleep: { duration in
        try Task.checkCancellation()
        self.naps.update { $0.append(duration) }
        self.clock.update { $0 += duration.milliseconds }
      })
  }
}

extension Store {
  /// Enqueues one request a payload, each in a transaction of its own.
  @discardableResult
  func enqueue(_ payloads: [String], lane: String = "lane") throws -> [EntryID] {
    try payloads.map { payload in
      try write { t in
        try outbox.enqueue(OutboxRequest(kind: "test", lane: lane, payload: Array(payload.utf8)), in: &t)
      }
    }
  }

  /// The rows of each of the outbox's databases, by name; journal and meta left out.
  func outboxRows() throws -> [String: Int] {
    var rows: [String: Int] = [:]
    for name in Outbox.databases where !["outbox.log", "outbox.meta"].contains(name) {
      let database = try environment.database(name)
      rows[name] = try read { t in
        var count = 0
        var cursor = try t.cursor(in: database)
        while try cursor.next() { count += 1 }
        return count
      }
    }
    return rows.filter { $0.value != 0 }
  }
}

extension Store {
  /// What the journal tells, from the beginning.
  func journal() throws -> [JournalRecord] {
    try read { t in try outbox.journal.records(after: 0, limit: .max, in: t) }
  }
}

extension OutboxEntry {
  var text: String { String(decoding: payload, as: UTF8.self) }
}
