import LMDB

@testable import Holdfast

extension DeliveryState {
  /// The row of `outbox.state` that it is.
  var encoded: [UInt8] { head.array + Array(tail.utf8) }
}

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

/// Clocks that jump to the end of each sleep. The wall clock can be set, and the system restarted.
final class TestTime: Sendable {
  private struct Clocks {
    var wall: Int64 = 1_000_000
    var uptime: Int64 = 5000
    var boots = 1
    var sleeps: [Duration] = []
  }

  private let clocks = Monitor(Clocks())

  var sleeps: [Duration] { clocks.update { $0.sleeps } }

  var time: SystemTime {
    SystemTime(
      now: { self.clocks.update { $0.wall } },
      uptime: { self.clocks.update { $0.uptime } },
      boot: { self.clocks.update { "boot \($0.boots)" } },
      sleep: { duration in
        // Others must get on meanwhile: the pool has few threads.
        await Task.yield()
        try Task.checkCancellation()
        self.clocks.update { $0.sleeps.append(duration) }
        self.pass(duration)
      })
  }

  /// Lets time go by.
  func pass(_ duration: Duration) {
    clocks.update { clocks in
      clocks.wall += duration.milliseconds
      clocks.uptime += duration.milliseconds
    }
  }

  /// Somebody sets the wall clock, forward or back.
  func setWall(by milliseconds: Int64) { clocks.update { $0.wall += milliseconds } }

  /// The system is started anew, after a time in which it was off.
  func restart(after duration: Duration = .seconds(60)) {
    clocks.update { clocks in
      clocks.wall += duration.milliseconds
      clocks.uptime = 1000
      clocks.boots += 1
    }
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

extension Store {
  /// Claims what is due first, in a new epoch, as a drain does.
  func claimAnew() throws -> Outbox.Claim? {
    try write { t in
      let epoch = try outbox.recover(in: &t)
      let clock = try outbox.clock(in: t.reader)
      var memory = Outbox.ClaimMemory()
      let allowance = Outbox.Allowance(
        room: 1, dueBy: clock.time, network: NetworkGate(limit: 1), inFlight: [], queueLimits: [:])
      let claims = try outbox.claim(allowance, &memory, epoch: epoch, DeliveryState.Rules(), at: clock, in: &t).claims
      try outbox.setInFlight(claims.map(\.entry.id), epoch: epoch, in: &t)
      return claims.first
    }
  }

  /// Settles a claim, as a drain does.
  func settle(_ claim: Outbox.Claim, _ outcome: SendOutcome, hooks: OutboxHooks = OutboxHooks()) throws {
    try write { t in
      let clock = try outbox.clock(in: t.reader)
      try outbox.settle(claim, .sent(outcome), DeliveryState.Rules(), hooks, at: clock, in: &t)
      try outbox.setInFlight([], epoch: claim.epoch, in: &t)
    }
  }

  /// Adds one request that is changed from the usual.
  @discardableResult
  func enqueue(_ text: String, lane: String? = "lane", _ change: (inout OutboxRequest) -> Void) throws -> EntryID {
    var request = OutboxRequest(kind: "test", lane: lane, payload: Array(text.utf8))
    change(&request)
    return try write { t in try outbox.enqueue(request, in: &t) }
  }
}

extension OutboxEntry {
  var text: String { String(decoding: payload, as: UTF8.self) }
}
