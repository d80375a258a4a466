import Foundation
import LMDB

@testable import Holdfast

/// Where a process is killed.
enum KillPoint: String, CaseIterable, Codable, Sendable {
  case fileWritten, fileStaged, inEnqueue, afterEnqueue, inSupersede, afterSupersede, inCancel, afterCancel
  case inRequeue, afterRequeue, inRecovery, afterRecovery, inClaim, inSend, afterSend, inSettle, afterSettle
  case inDeath, afterDeath, inExpiry, afterExpiry, orphanRemoved, never
}

/// One life of an app that adds, replaces and cancels requests and drains its outbox, and is killed at one point.
///
/// What the user sees of each request is a record whose `state` is written in the transactions of the outbox.
struct CrashLife {
  let store: Store
  let server: CrashServer
  let point: KillPoint
  private var random: Seeded
  /// How often the point is passed before it kills.
  private let left: Monitor<Int>
  private let prefix: String

  init(_ path: String, _ point: KillPoint, seed: UInt64) throws {
    store = try Store.open(at: "\(path)/store")
    server = try CrashServer("\(path)/server")
    self.point = point
    random = Seeded(seed)
    left = Monitor(Int.random(in: 0..<3, using: &random))
    prefix = "\(seed)"
  }

  static func key(_ text: String) -> StateKey { StateKey(type: "op", id: text) }

  /// Dies here if it is the point and the time has come: nothing of the process runs after it.
  func pass(_ here: KillPoint) {
    guard here == point,
      left.update({ left in
        left -= 1
        return left < 0
      })
    else { return }
    kill(getpid(), SIGKILL)
    while true { pause() }
  }

  private func set(_ text: String, _ state: String, in t: inout WriteTransaction) throws {
    try store.state.update(Self.key(text), ["state": .string(state)], in: &t)
  }

  mutating func run() async throws {
    try releaseSuspects()
    for round in 0..<60 {
      for n in 0..<3 { try add("\(prefix).\(round).\(n)") }
      try replace("\(prefix).\(round).r")
      try cancelOne()
      try requeueOne()
      try recover()
      try await drain()
    }
  }

  /// What was in flight at too many kills is innocent here.
  private func releaseSuspects() throws {
    for held in try store.outbox.pendingEntries(limit: .max) where held.phase == .held {
      try store.write { t in try store.outbox.resolve(held.id, as: .resend, in: &t) }
    }
  }

  private mutating func add(_ text: String) throws {
    let hasFile = Int.random(in: 0..<3, using: &random) == 0
    var files: [StagedAttachment] = []
    if hasFile {
      if point == .fileWritten {
        _ = try store.outbox.folder.stage(name: "x", mediaType: "y") { file throws(StoreError) in
          let bytes = [UInt8](repeating: 1, count: 100)
          try file.write(bytes.span)
          pass(.fileWritten)
          return 100
        }
      }
      files = [try store.outbox.stage([1, 2, 3], name: "x", mediaType: "y")]
      pass(.fileStaged)
    }
    let lane = "lane \(Int.random(in: 0..<4, using: &random))"
    var request = OutboxRequest(kind: "k", lane: lane, payload: Array(text.utf8), attachments: files)
    if Int.random(in: 0..<10, using: &random) == 0 { request.maxAge = .milliseconds(1) }
    try store.write { t in
      try set(text, "waiting", in: &t)
      try store.outbox.enqueue(request, in: &t)
      pass(.inEnqueue)
    }
    pass(.afterEnqueue)
  }

  /// Replaces an earlier request of one key; the app knows from the journal which one it was.
  private func replace(_ text: String) throws {
    for text in ["\(text)1", "\(text)2"] {
      var request = OutboxRequest(kind: "k", lane: "lane r", payload: Array(text.utf8))
      (request.key, request.conflict) = ("draft", .replace)
      try store.write { t in
        let before = try store.outbox.ids(ofKey: "draft", queue: "", in: t.reader)
        let texts = try before.map { id in (id, try store.outbox.entry(id, in: t.reader)?.text ?? "") }
        try set(text, "waiting", in: &t)
        try store.outbox.enqueue(request, in: &t)
        for (id, old) in texts where try store.outbox.entry(id, in: t.reader) == nil {
          try set(old, "replaced", in: &t)
        }
        pass(.inSupersede)
      }
      pass(.afterSupersede)
    }
  }

  private mutating func cancelOne() throws {
    let waiting = try store.outbox.pendingEntries(limit: 50).filter { $0.phase == .waiting && $0.attempts == 0 }
    guard let entry = try waiting.randomElement(using: &random)?.entry.get() else { return }
    try store.write { t in
      try store.outbox.cancel(.entry(entry.id), in: &t)
      try set(entry.text, "cancelled", in: &t)
      pass(.inCancel)
    }
    pass(.afterCancel)
  }

  private mutating func requeueOne() throws {
    guard let letter = try store.outbox.deadEntries(limit: 9).randomElement(using: &random) else { return }
    try store.write { t in
      try store.outbox.requeue(letter.entry.id, in: &t)
      try set(letter.entry.text, "waiting", in: &t)
      pass(.inRequeue)
    }
    pass(.afterRequeue)
  }

  private func recover() throws {
    try store.write { t in
      _ = try store.outbox.recover(in: &t)
      pass(.inRecovery)
    }
    pass(.afterRecovery)
    if point == .inClaim {
      // Taken back when it is not killed, so that the drain claims it.
      try? store.write { t in
        let clock = try store.outbox.clock(in: t.reader)
        var memory = Outbox.ClaimMemory()
        let allowance = Outbox.Allowance(
          room: 4, dueBy: clock.time, network: NetworkGate(limit: 4), inFlight: [], queueLimits: [:])
        _ = try store.outbox.claim(allowance, &memory, epoch: 1, .init(), at: clock, in: &t)
        pass(.inClaim)
        throw CancellationError()
      }
    }
  }

  private mutating func drain() async throws {
    if point == .orphanRemoved {
      try FileSystem.makeDirectory(store.outbox.folder.path)
      for _ in 0..<3 {
        let id = AttachmentID()
        _ = try File(store.outbox.folder.path(of: id), .new)
      }
      var count = 0
      try store.outbox.folder.collectOrphans { id in
        count += 1
        if count > 1 { pass(.orphanRemoved) }
        return try store.read { t in try t.value(forKey: id.bytes.span, in: store.outbox.attachments) != nil }
      }
    }
    let faults = UInt64.random(in: 0 ... .max, using: &random)
    let options = Outbox.DrainOptions(
      goal: .once, concurrency: 3,
      schedule: RetrySchedule(base: .milliseconds(1), cap: .milliseconds(2), floor: .zero, maxAttempts: 1000))
    let sender = CrashSender(life: self, faults: faults)
    let report = try await store.outbox.drain(with: sender, hooks: hooks, options: options)
    if let lost = report.rowsLost { throw StoreError(.damaged, "A false alarm: \(lost)") }
  }

  private var hooks: OutboxHooks {
    let life = self
    return OutboxHooks(
      onCommit: { entry, _, t in
        try life.set(entry.text, "sent", in: &t)
        life.pass(.inSettle)
        t.afterCommit { life.pass(.afterSettle) }
      },
      onRollback: { entry, reason, t in
        try life.set(entry.text, "failed", in: &t)
        let isExpiry = reason.contains("age")
        life.pass(isExpiry ? .inExpiry : .inDeath)
        t.afterCommit { life.pass(isExpiry ? .afterExpiry : .afterDeath) }
      })
  }
}

/// Hands entries to the server, through a network with a third of faults.
struct CrashSender: OutboxSender {
  let life: CrashLife
  let faults: UInt64

  func send(_ entry: OutboxEntry) async throws -> SendOutcome {
    life.pass(.inSend)
    var random = Seeded(faults ^ entry.id.rawValue)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .transient(reason: "http 500")
    case 1: return .notSent(reason: "no connection", closing: nil)
    case 2: return .permanent(reason: "http 400")
    case 3:
      try life.server.take(entry)
      life.pass(.afterSend)
      return .ambiguous(reason: "the reply was lost")
    default:
      try life.server.take(entry)
      life.pass(.afterSend)
      return .delivered(reply: [])
    }
  }
}
