import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct ReaderTests {
  let scratch = TemporaryDirectory()

  @Test func fourSlotsServeSixtyFourTasks() async throws {
    let options = Environment.Options(durability: .unsafeNoSync, readerLimit: 4)
    let (environment, a) = try Environment.make(at: scratch(), options)
    try environment.set("value", "k", in: a)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for _ in 0..<64 {
        tasks.addTask {
          for _ in 0..<50 {
            let found = try environment.text("k", in: a)
            #expect(found == "value")
            await Task.yield()
          }
        }
      }
      try await tasks.waitForAll()
    }
  }

  @Test func fourSlotsServeSixtyFourThreads() throws {
    let options = Environment.Options(durability: .unsafeNoSync, readerLimit: 4, waitLimit: .seconds(600))
    let (environment, a) = try Environment.make(at: scratch(), options)
    try environment.set("value", "k", in: a)
    try onThreads(64) { _ in
      for _ in 0..<50 {
        let found = try environment.read { t in
          _ = sched_yield()
          return t.bytes("k", in: a)
        }
        #expect(found?.count == 5)
      }
    }
    #expect(environment.snapshots.openSnapshots.isEmpty)
  }

  @Test func aFullTableIsAnErrorThatNamesTheSnapshots() throws {
    let options = Environment.Options(durability: .unsafeNoSync, readerLimit: 4, waitLimit: .milliseconds(10))
    let (environment, a) = try Environment.make(at: scratch(), options)
    try environment.set("value", "k", in: a)
    let pins = [Pinned.reader(environment), Pinned.reader(environment)]
    let failure = #expect(throws: StoreError.self) { try environment.read { _ in } }
    #expect(failure?.code == .readersFull)
    #expect(failure?.message.contains("2 open snapshots (thread 0x") == true)
    for pin in pins { try pin.release() }
    #expect(try environment.text("k", in: a) == "value")
  }

  /// Waiting would be for ever: nobody but this thread can end what is in its way.
  @Test func nestedReadsBeyondTheTableThrowAtOnce() throws {
    let options = Environment.Options(durability: .unsafeNoSync, readerLimit: 4, waitLimit: .seconds(100_000))
    let (environment, _) = try Environment.make(at: scratch(), options)
    try environment.read { _ in
      try environment.read { _ in
        #expect(code { try environment.read { _ in } } == .readersFull)
      }
    }
    try environment.read { _ in }
  }

  /// The first process decides how many slots there are; the second one has more threads than it can get.
  @Test func slotsTakenByAnotherProcessAreSharedOut() async throws {
    let options = Environment.Options(durability: .unsafeNoSync, readerLimit: 2)
    let (environment, a) = try Environment.make(at: scratch(), options)
    try environment.set("value", "k", in: a)
    let pin = Pinned.reader(environment)
    let path = scratch()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let options = Environment.Options(durability: .unsafeNoSync, readerLimit: 64, waitLimit: .seconds(600))
      let (environment, a) = try Environment.make(at: path, options)
      try onThreads(16) { _ in
        for _ in 0..<50 {
          let found = try environment.text("k", in: a)
          #expect(found == "value")
        }
      }
    }
    try pin.release()
  }

  @Test func readsKeepTheirTransactionForTheNextOne() throws {
    let (environment, a) = try Environment.make(at: scratch(), Environment.Options(durability: .unsafeNoSync))
    for _ in 0..<100 { _ = try environment.text("k", in: a) }
    #expect(environment.snapshots.transactions == 1)
    let pin = Pinned.reader(environment)
    for _ in 0..<100 { _ = try environment.text("k", in: a) }
    #expect(environment.snapshots.transactions == 2)
    try pin.release()
    #expect(environment.snapshots.transactions == 2)
  }

  @Test func aPinnedReaderShowsAsLag() throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("0", "k", in: a)
    #expect(try environment.info().oldestReaderLag == 0)
    #expect(try environment.info().readers == [])
    let pin = Pinned.reader(environment)
    for n in 1...10 { try environment.set("\(n)", "k", in: a) }
    let info = try environment.info()
    #expect(info.oldestReaderLag == 10)
    #expect(info.readers.map(\.processID) == [Int(getpid())])
    #expect(info.readers.map(\.transactionID) == [info.lastTransactionID - 10])
    try pin.release()
    #expect(try environment.info().oldestReaderLag == 0)
  }

  /// What the lag warns of: pages that a snapshot still sees are not used again.
  @Test func aPinnedReaderMakesTheFileGrow() throws {
    let (environment, a) = try Environment.make(at: scratch(), Environment.Options(durability: .unsafeNoSync))
    func churn() throws -> Int {
      let before = try environment.info().usedPages
      for round in 0..<100 {
        try environment.write { t in
          for n in 0..<20 { try t.set([UInt8](repeating: UInt8(round), count: 3000), forKey: "\(n)", in: a) }
        }
      }
      return try environment.info().usedPages - before
    }
    _ = try churn()
    #expect(try churn() < 50)
    let pin = Pinned.reader(environment)
    #expect(try churn() > 1500)
    #expect(try environment.info().oldestReaderLag == 100)
    try pin.release()
    #expect(try churn() < 50)
    #expect(try environment.info().freePages > 1500)
  }

  @Test func aKilledReaderIsForgottenByTheWriter() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Environment.Options(durability: .unsafeNoSync))
    let path = scratch()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let (environment, _) = try Environment.make(at: path, Environment.Options(durability: .unsafeNoSync))
      try environment.read { _ in _ = kill(getpid(), SIGKILL) }
    }
    #expect(try environment.info().readers.count == 1)
    for n in 0..<1024 { try environment.set("\(n)", "k", in: a) }
    #expect(try environment.info().readers == [])
  }

  @Test func aReaderKeepsItsSnapshotWhileOthersWrite() throws {
    let (environment, a) = try Environment.make(at: scratch(), Environment.Options(durability: .unsafeNoSync))
    try environment.write { t in for n in 0..<500 { try t.set([0], forKey: "\(n)", in: a) } }
    try environment.read { t in
      for round in 1..<20 {
        try environment.write { t in for n in 0..<500 { try t.set([UInt8(round)], forKey: "\(n)", in: a) } }
        for n in 0..<500 { #expect(t.bytes("\(n)", in: a) == [0]) }
      }
    }
  }
}
