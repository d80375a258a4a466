import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct ProcessTests {
  private let directory = TemporaryDirectory()

  /// Sends to the server that outlives the process, and dies after a number of attempts.
  private struct DyingSender: OutboxSender {
    let server: CrashServer
    let left: Monitor<Int>

    func send(_ entry: OutboxEntry) async throws -> SendOutcome {
      try server.take(entry)
      let isOver = left.update { left in
        left -= 1
        return left <= 0
      }
      if isOver { kill(getpid(), SIGKILL) }
      return .delivered(reply: [])
    }
  }

  @Test("T12: three processes enqueue, one drains, and when it is killed another takes over")
  func aDrainIsTakenOver() async throws {
    let path = directory.path
    _ = try Store.open(at: "\(path)/store")
    @Sendable func enqueue(_ name: String) async {
      await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
        let store = try Store.open(at: "\(path)/store")
        for n in 0..<20 { try store.enqueue(["\(name)\(n)"], lane: name) }
      }
    }
    @Sendable func drainAndDie() async {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let store = try Store.open(at: "\(path)/store")
        let sender = DyingSender(server: try CrashServer("\(path)/server"), left: Monitor(12))
        try await store.outbox.drain(
          with: sender, options: .init(goal: .forever, concurrency: 3, pollInterval: .milliseconds(10)))
      }
    }
    async let writers: Void = withTaskGroup { group in
      for name in ["a", "b", "c"] { group.addTask { await enqueue(name) } }
    }
    async let drainer: Void = drainAndDie()
    _ = await (writers, drainer)
    let store = try Store.open(at: "\(path)/store")
    let server = try CrashServer("\(path)/server")
    #expect(try store.outbox.verify().problems == [])
    #expect(try store.outbox.metrics().inFlight > 0, "what the killed one had in flight is known")
    let sender = DyingSender(server: server, left: Monitor(.max))
    try await store.outbox.drain(with: sender)
    let log = try server.log()
    #expect(log.count == 60 && Set(log.map(\.text)).count == 60)
    for (lane, effects) in Dictionary(grouping: log, by: \.lane) {
      #expect(effects.map(\.text) == (0..<20).map { "\(lane)\($0)" })
    }
    let enqueued = try store.journal().filter { $0.kind == .enqueued }.map(\.entry.rawValue)
    #expect(enqueued == Array(1...60), "numbers in the order of commits, over all processes, without gaps")
  }

  @Test func aPauseHoldsInAllProcesses() async throws {
    let path = directory.path
    let store = try Store.open(at: "\(path)/store")
    try store.enqueue(["1"])
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try Store.open(at: "\(path)/store")
      try await store.write { t in try store.outbox.pause(.all, in: &t) }
    }
    #expect(try await store.outbox.drain(with: ScriptedSender()).delivered == 0)
  }

  @Test func whatAnotherProcessEnqueuesIsSeenByAPoll() async throws {
    let path = directory.path
    let store = try Store.open(at: "\(path)/store")
    let events = store.outbox.events()
    let drain = Task {
      try await store.outbox.drain(
        with: ScriptedSender(), options: .init(goal: .forever, pollInterval: .milliseconds(10)))
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try Store.open(at: "\(path)/store").enqueue(["1"])
    }
    for await event in events {
      if case .delivered = event { break }
    }
    drain.cancel()
    #expect(try await drain.value.delivered == 1)
  }

  @Test func anIdleDrainWakesForNothing() async throws {
    let time = TestTime()
    let store = try Store.open(at: "\(directory.path)/store", time: time.time)
    let drain = Task {
      try await store.outbox.drain(with: ScriptedSender(), options: .init(goal: .forever, pollInterval: nil))
    }
    let events = store.outbox.events()
    try store.enqueue(["1"])
    for await event in events {
      if case .delivered = event { break }
    }
    for _ in 0..<100 { await Task.yield() }
    #expect(time.sleeps.isEmpty, "no timer runs while nothing is due")
    drain.cancel()
    _ = try await drain.value
  }
}
