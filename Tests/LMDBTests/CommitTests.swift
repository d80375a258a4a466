import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LMDB

/// What this process hears of commits.
@Suite struct CommitTests {
  let scratch = TemporaryDirectory()
  static let unsynced = Environment.Options(durability: .unsafeNoSync)

  struct Refusal: Error {}

  @Test func observersHearOfEachCommitThatChangesSomething() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let log = Log()
    let observation = environment.observeCommits { log.append("\($0)") }
    try withExtendedLifetime(observation) {
      let before = try environment.lastTransactionID
      try environment.set("1", "k", in: a)
      try environment.write { _ in }
      _ = try environment.write { try $0.removeValue(forKey: "missing", in: a) }
      #expect(throws: Refusal.self) {
        try environment.write { t in
          try t.set([1], forKey: "l", in: a)
          throw Refusal()
        }
      }
      _ = try environment.write { t in
        try? t.nested { n in
          try n.set([1], forKey: "l", in: a)
          throw Refusal()
        }
      }
      try environment.write { try $0.removeValue(forKey: "k", in: a) }
      try environment.write { t in try t.nested { try $0.set([1], forKey: "l", in: a) } }
      #expect(log.entries == (1...3).map { "\(before + $0)" })
      #expect(try environment.lastTransactionID == before + 3)
    }
    _ = consume observation
    try environment.set("2", "k", in: a)
    #expect(log.entries.count == 3)
  }

  /// An observer sees the commit and may read and write; it runs after the actions of the transaction.
  @Test func observersRunOutsideTheLocks() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let log = Log()
    let observation = environment.observeCommits { [unowned environment] id in
      let seen = (try? environment.read { t in "\(t.id == id) \(t.bytes("k", in: a)?.count ?? 0)" }) ?? "error"
      log.append("observed \(seen)")
      if log.entries.count < 3 { try? environment.set("22", "k", in: a) }
    }
    try environment.write { t in
      try t.set([1], forKey: "k", in: a)
      t.afterCommit { log.append("action") }
    }
    withExtendedLifetime(observation) {}
    #expect(log.entries == ["action", "observed true 1", "observed true 2"])
  }

  /// Two owners of one path have one environment, so that each hears of the other's commits.
  @Test func allWhoOpenAPathHearOfItsCommits() async throws {
    let (mine, _) = try Environment.make(at: scratch(), Self.unsynced)
    let (theirs, b) = try Environment.make(
      at: scratch("../\(URL(filePath: scratch.path).lastPathComponent)/env"), Self.unsynced)
    let log = Log()
    let observations = [mine.observeCommits { log.append("1 \($0)") }, mine.observeCommits { log.append("2 \($0)") }]
    try await theirs.write { try $0.set([1], forKey: "k", in: b) }
    withExtendedLifetime(observations) {}
    let id = try mine.lastTransactionID
    #expect(log.entries == ["1 \(id)", "2 \(id)"])
  }

  @Test func aGroupIsHeardOfOnceBeforeItsTasksResume() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    let log = Log()
    let observation = environment.observeCommits { _ in log.append("commit") }
    let pin = Pinned.writer(environment)
    var tasks: [Task<Void, any Error>] = []
    for n in 0..<20 {
      tasks.append(
        Task {
          try await environment.write { try $0.set([1], forKey: "\(n)", in: a) }
          log.append("answer")
        })
      while n == 0 ? !environment.asynchronousWriter.isBusy : environment.asynchronousWriter.pending < n {
        await Task.yield()
      }
    }
    try pin.release()
    for task in tasks { try await task.value }
    withExtendedLifetime(observation) {}
    // The first alone, the others together.
    #expect(log.entries.filter { $0 == "commit" }.count == 2)
    #expect(log.entries.first == "commit")
    #expect(log.entries.last == "answer")
  }

  /// HOLDFAST_COMMITS makes it longer. What was read at a number is what a later read at the same number would give.
  @Test func theNewestNumberIsNeverOlderThanWhatCanBeRead() throws {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync, mapSize: 64 << 10))
    try environment.write { t in try t.set(t.id.text, forKey: "k", in: a) }
    let isDone = Atomic(false)
    let readers = (0..<3).map { _ in
      TestThread {
        var last = 0
        while !isDone.load(ordering: .relaxed) {
          let snapshot = try environment.read { t in
            // Less after the file was compacted, which takes a number of its own. More if two commits came while
            // the snapshot was taken: LMDB reads the number first, and then the header of the same parity.
            guard let written = t.number("k", in: a) else { throw Refusal() }
            return max(written, t.id)
          }
          let newest = try environment.lastTransactionID
          guard newest >= snapshot, newest >= last else { throw Refusal() }
          last = newest
        }
      }
    }
    for n in 0..<setting("HOLDFAST_COMMITS", or: 1500) {
      let id = try environment.write { t in
        try t.set(t.id.text, forKey: "k", in: a)
        // So that the map grows meanwhile.
        try t.set([UInt8](repeating: 0, count: 2000), forKey: "\(n)", in: a)
        return t.id
      }
      let newest = try environment.lastTransactionID
      #expect(newest == id)
      if n % 500 == 0 { try environment.compact() }
    }
    isDone.store(true, ordering: .relaxed)
    for reader in readers { try reader.join() }
  }

  @Test func theNewestNumberCountsOtherProcesses() async throws {
    let (environment, _) = try Environment.make(at: scratch(), Self.unsynced)
    let before = try environment.lastTransactionID
    let path = scratch()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let (environment, a) = try Environment.make(at: path, CommitTests.unsynced)
      for n in 0..<3 { try environment.set("\(n)", "k", in: a) }
    }
    #expect(try environment.lastTransactionID == before + 3)
  }

  /// The rebuilt file counts on: a number that was seen before never comes again with another content.
  @Test func compactingTakesNoNumberBack() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    var last = try environment.lastTransactionID
    for n in 0..<5 {
      for _ in 0...n { try environment.set("\(n)", "k", in: a) }
      let before = try environment.lastTransactionID
      #expect(before == last + n + 1)
      try environment.compact()
      last = try environment.lastTransactionID
      #expect(last >= before)
      #expect(try environment.read { $0.id } == last)
      try environment.verify()
    }
    try environment.close()
    let (again, b) = try Environment.make(at: scratch(), Self.unsynced)
    #expect(try again.lastTransactionID == last)
    #expect(try again.text("k", in: b) == "4")
  }

  @Test func theNumberIsReadWhereverAReadMayBegin() throws {
    let options = Environment.Options(durability: .unsafeNoSync, readerLimit: 4, waitLimit: .milliseconds(10))
    let (environment, a) = try Environment.make(at: scratch(), options)
    try environment.set("1", "k", in: a)
    let id = try environment.lastTransactionID
    try environment.read { t in
      try environment.read { _ in
        // Both slots are this thread's.
        let inside = try environment.lastTransactionID
        #expect(inside == id && t.id == id)
      }
      try environment.write { w in
        try w.set([2], forKey: "k", in: a)
        let inside = try environment.lastTransactionID
        let (own, nested) = (w.id, try w.nested { $0.id })
        #expect(inside == id && own == id + 1 && nested == own)
      }
    }
    let pins = [Pinned.reader(environment), Pinned.reader(environment)]
    #expect(code { try environment.lastTransactionID } == .readersFull)
    for pin in pins { try pin.release() }
    #expect(try environment.lastTransactionID == id + 1)
    try environment.close()
    #expect(code { try environment.lastTransactionID } == .closed)
  }
}

extension Int {
  fileprivate var text: [UInt8] { Array("\(self)".utf8) }
}

extension ReadTransaction {
  fileprivate borrowing func number(_ key: String, in database: Database) -> Int? {
    bytes(key, in: database).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
  }
}
