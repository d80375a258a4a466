import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// What a long queue costs those that have nothing to do with it. Steps are counted, not time.
///
/// `HOLDFAST_BACKLOG` says how many entries wait (3000); figures are printed when it is set.
@Suite(.enabled(if: FaultShim.isLoaded, "a C compiler (cc) is needed for the library that counts steps"))
struct BacklogTests {
  private static let size = setting("HOLDFAST_BACKLOG", or: 3000)

  private let directory = TemporaryDirectory()

  private static func open(_ path: String) throws -> Store {
    try Store.open(at: path, time: .real, options: .init(durability: .unsafeNoSync))
  }

  /// Adds entries, a thousand in a commit.
  private static func fill(_ store: Store, _ count: Int, lanes: Int = 1) throws {
    for start in stride(from: 0, to: count, by: 1000) {
      try store.commit { t in
        for n in start..<min(count, start + 1000) {
          try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "blocked \(n % lanes)", payload: [1, 2, 3]), in: &t)
        }
      }
    }
  }

  /// Shows what a test has printed in its process.
  private func show(_ result: ExitTest.Result?) {
    guard ProcessInfo.processInfo.environment["HOLDFAST_BACKLOG"] != nil, let result else { return }
    print(String(decoding: result.standardOutputContent, as: UTF8.self), terminator: "")
  }

  /// The steps of a claim and of its settling.
  private static func stepsOfAClaim(_ store: Store) throws -> [Int] {
    let start = FaultShim.steps
    guard let claim = try store.claimAnew() else { throw StoreError(.notFound, "There is nothing to claim.") }
    let claimed = FaultShim.steps
    try store.settle(claim, .delivered(reply: []))
    return [claimed - start, FaultShim.steps - claimed]
  }

  @Test("T10: a claim takes as many steps before a hundred blocked entries as before a hundred thousand")
  func aClaimCostsTheSameWhateverIsBlocked() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let directory = TemporaryDirectory()
      var costs: [[Int]] = []
      for size in [100, Self.size / 10, Self.size] {
        let store = try Self.open("\(directory.path)/\(size)")
        try store.enqueue("head", lane: "blocked 0") { $0.delay = .seconds(3600) }
        try Self.fill(store, size)
        for n in 0..<9 { try store.enqueue("\(n)", lane: "free \(n)") { _ in } }
        let due = try store.outboxRows()["outbox.due"]
        #expect(due == 10, "only heads of lanes are among what is due")
        costs.append(try Self.stepsOfAClaim(store))
        print("\(size) blocked: steps of a claim and of settling it \(costs.last ?? [])")
      }
      #expect(Set(costs).count == 1, "\(costs)")
    }
    show(result)
  }

  @Test("T16: opening a store takes as many steps whatever waits in it, and so does beginning to drain it")
  func openingReadsNothingOfTheBacklog() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let directory = TemporaryDirectory()
      var costs: [[Int]] = []
      for size in [1000, Self.size] {
        let path = "\(directory.path)/\(size)"
        // In a scope of its own, so that it is closed.
        try { try Self.fill(Self.open(path), size) }()
        let clock = ContinuousClock.now
        let start = FaultShim.steps
        let store = try Self.open(path)
        let opened = FaultShim.steps
        let time = ContinuousClock.now - clock
        // As a drain begins: with what an earlier one has left, and with the first that is due.
        costs.append([opened - start] + (try Self.stepsOfAClaim(store)))
        print("\(size) wait: steps of opening, claiming and settling \(costs.last ?? []); opened in \(time)")
      }
      #expect(costs[0] == costs[1], "\(costs)")
    }
    show(result)
  }

  @Test("T16: draining needs no memory for what waits")
  func drainingNeedsNoMemoryForTheBacklog() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let directory = TemporaryDirectory()
      let store = try Self.open("\(directory.path)/store")
      try Self.fill(store, Self.size, lanes: 200)
      let before = try #require(Self.anonymousMemory())
      let clock = ContinuousClock.now
      let most = Monitor(0)
      let sender = CountingSender(every: max(1, Self.size / 20)) {
        let now = Self.anonymousMemory() ?? 0
        most.update { $0 = max($0, now) }
      }
      let report = try await store.outbox.drain(with: sender, options: .init(concurrency: 64, pollInterval: nil))
      #expect(report.delivered == Self.size)
      let growth = most.update { $0 } - before
      print("\(Self.size) drained in \(ContinuousClock.now - clock); memory grew by \(growth >> 10) KiB at most")
      #expect(growth < 64 << 20)
    }
    show(result)
  }

  /// The memory of this process that is in no file, in bytes.
  private static func anonymousMemory() -> Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }
}

/// Delivers everything, and keeps nothing of it.
private final class CountingSender: OutboxSender {
  private let count = Monitor(0)
  private let period: Int
  private let look: @Sendable () -> Void

  init(every period: Int, _ look: @escaping @Sendable () -> Void) {
    self.period = period
    self.look = look
  }

  func send(_ entry: OutboxEntry) async -> SendOutcome {
    let count = count.update { count in
      count += 1
      return count
    }
    if count % period == 0 { look() }
    return .delivered(reply: [])
  }
}
