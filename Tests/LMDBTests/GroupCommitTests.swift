import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LMDB

@Suite struct GroupCommitTests {
  let scratch = TemporaryDirectory()
  static let unsynced = Environment.Options(durability: .unsafeNoSync)

  struct Refusal: Error, Equatable { let member: Int }

  /// Starts tasks one after the other while the writer is held up, so that all of them but the first are one group.
  private func group(
    of count: Int, in environment: Environment,
    _ body: @escaping @Sendable (Int, inout WriteTransaction) throws -> Void
  ) async throws -> [Task<Void, any Error>] {
    let pin = Pinned.writer(environment)
    var tasks: [Task<Void, any Error>] = []
    for n in 0..<count {
      tasks.append(Task { try await environment.write { try body(n, &$0) } })
      // The thread fetches the first and waits for its turn to write.
      while n == 0 ? !environment.asynchronousWriter.isBusy : environment.asynchronousWriter.pending < n {
        await Task.yield()
      }
    }
    try pin.release()
    return tasks
  }

  @Test func waitingTasksShareOneCommit() async throws {
    let (environment, a) = try Environment.make(at: scratch())
    let before = try environment.info().lastTransactionID
    let tasks = try await group(of: 64, in: environment) { n, t in try t.set([UInt8(n)], forKey: "\(n)", in: a) }
    for task in tasks { try await task.value }
    #expect(try environment.statistics(of: a).entries == 64)
    // The first alone, the others together; what held them up changed nothing, so that LMDB did not count it.
    #expect(try environment.info().lastTransactionID == before + 2)
  }

  @Test func oneFailingMemberOfAThousandTakesBackOnlyItself() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let before = try environment.info().lastTransactionID
    let tasks = try await group(of: 1000, in: environment) { n, t in
      try t.set([1], forKey: "\(n)", in: a)
      if n == 500 { throw Refusal(member: n) }
    }
    for (n, task) in tasks.enumerated() {
      switch await task.result {
      case .success: #expect(n != 500)
      case .failure(let error): #expect(error as? Refusal == Refusal(member: 500))
      }
    }
    #expect(try environment.statistics(of: a).entries == 999)
    #expect(try environment.text("500", in: a) == nil)
    #expect(try environment.info().lastTransactionID == before + 2)
  }

  @Test func membersRunInTheOrderInWhichTheyAsked() async throws {
    let (environment, _) = try Environment.make(at: scratch(), Self.unsynced)
    let log = Log()
    for task in try await group(of: 50, in: environment, { n, _ in log.append("\(n)") }) { try await task.value }
    #expect(log.entries == (0..<50).map { "\($0)" })
  }

  @Test func aTaskCancelledWhileItWaitsThrowsAndChangesNothing() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let pin = Pinned.writer(environment)
    let taken = Task { try await environment.write { try $0.set([1], forKey: "taken", in: a) } }
    while !environment.asynchronousWriter.isBusy { await Task.yield() }
    let waiting = Task { try await environment.write { try $0.set([1], forKey: "waiting", in: a) } }
    while environment.asynchronousWriter.pending < 1 { await Task.yield() }
    taken.cancel()
    waiting.cancel()
    // Before the writer goes on: the cancelled task does not wait for it.
    await #expect(throws: CancellationError.self) { try await waiting.value }
    try pin.release()
    try await taken.value
    #expect(try environment.text("taken", in: a) != nil)
    #expect(try environment.text("waiting", in: a) == nil)
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      try await environment.write { try $0.set([1], forKey: "late", in: a) }
    }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
    #expect(try environment.text("late", in: a) == nil)
  }

  @Test func commitActionsOfMembersRunBeforeTheirTasksResume() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let ran = (0..<20).map { _ in Log() }
    let tasks = try await group(of: 20, in: environment) { n, t in
      try t.set([1], forKey: "\(n)", in: a)
      t.afterCommit { ran[n].append((try? environment.text("\(n)", in: a)) == nil ? "early" : "committed") }
      if n == 7 { throw Refusal(member: n) }
    }
    for (n, task) in tasks.enumerated() {
      _ = await task.result
      #expect(ran[n].entries == (n == 7 ? [] : ["committed"]))
    }
  }

  @Test func aGroupGrowsTheMap() async throws {
    let options = Environment.Options(durability: .unsafeNoSync, mapSize: 64 << 10)
    let (environment, a) = try Environment.make(at: scratch(), options)
    let tasks = try await group(of: 50, in: environment) { n, t in
      try t.set([UInt8](repeating: 1, count: 20_000), forKey: "\(n)", in: a)
    }
    for task in tasks { try await task.value }
    #expect(try environment.statistics(of: a).entries == 50)
  }

  /// The group does not fit into the map at its limit; most of its members do.
  @Test func membersOfAGroupThatFailsAreTriedOneByOne() async throws {
    let options = Environment.Options(durability: .unsafeNoSync, mapSize: 512 << 10, mapSizeLimit: 512 << 10)
    let (environment, a) = try Environment.make(at: scratch(), options)
    let tasks = try await group(of: 50, in: environment) { n, t in
      try t.set([UInt8](repeating: 1, count: 20_000), forKey: "\(n)", in: a)
    }
    var kept = 0
    for (n, task) in tasks.enumerated() {
      let isThere = try environment.text("\(n)", in: a) != nil
      switch await task.result {
      case .success:
        kept += 1
        #expect(try environment.text("\(n)", in: a) != nil)
      case .failure(let error):
        #expect((error as? StoreError)?.code == .mapFull)
        #expect(!isThere)
      }
    }
    #expect(kept > 10 && kept < 50)
    try environment.verify()
  }

  /// What is not flushed needs no other thread, unless somebody is before it.
  @Test func anUnflushedWriteOfATaskAloneStartsNoThread() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    for n in 0..<20 {
      let isQueued = try await environment.write { t in
        try t.set([UInt8(n)], forKey: "k", in: a)
        return environment.asynchronousWriter.isBusy
      }
      #expect(!isQueued)
    }
    await #expect(throws: Refusal.self) { try await environment.write { _ in throw Refusal(member: 0) } }
    // The lock is free again.
    try environment.set("sync", "k", in: a)
    let relaxed = try await environment.write(durability: .relaxed) { _ in environment.asynchronousWriter.isBusy }
    #expect(relaxed)
  }

  @Test func closingAnswersWhatIsQueued() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let pin = Pinned.writer(environment)
    let first = Task { try await environment.write { try $0.set([1], forKey: "1", in: a) } }
    while !environment.asynchronousWriter.isBusy { await Task.yield() }
    let second = Task { try await environment.write { try $0.set([1], forKey: "2", in: a) } }
    while environment.asynchronousWriter.pending < 1 { await Task.yield() }
    try pin.release()
    try environment.close()
    for task in [first, second] {
      if case .failure(let error) = await task.result { #expect((error as? StoreError)?.code == .closed) }
    }
    let failure = await #expect(throws: StoreError.self) { try await environment.write { _ in } }
    #expect(failure?.code == .closed)
  }

  @Test func manyTasksManyTimes() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for task in 0..<64 {
        tasks.addTask {
          for n in 0..<50 {
            let count = try await environment.write { t in
              let key = "counter"
              let old = try t.value(forKey: key, in: a)?.count ?? 0
              try t.set([UInt8](repeating: 1, count: old + 1), forKey: key, in: a)
              try t.set([], forKey: "\(task)-\(n)", in: a)
              return old
            }
            _ = count
          }
        }
      }
      try await tasks.waitForAll()
    }
    #expect(try environment.text("counter", in: a)?.utf8.count == 3200)
    #expect(try environment.statistics(of: a).entries == 3201)
  }

  /// The environment must outlive what it was asked, although nobody else holds it.
  @Test func droppingTheEnvironmentFinishesItsWrites() async throws {
    let path = scratch()
    let tasks = try {
      let (environment, a) = try Environment.make(at: path, Self.unsynced)
      return (0..<20).map { n in Task { try await environment.write { try $0.set([1], forKey: "\(n)", in: a) } } }
    }()
    for task in tasks { try await task.value }
    let (environment, a) = try Environment.make(at: path, Self.unsynced)
    #expect(try environment.statistics(of: a).entries == 20)
  }
}
