import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct TransactionTests {
  let scratch = TemporaryDirectory()

  @Test func storesAndReads() throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.write { t in
      try t.set([1, 2, 3], forKey: "k1", in: a)
      try t.set([4], forKey: "k2", in: a)
      try t.set([], forKey: "k3", in: a)
    }
    #expect(try environment.read { t in t.bytes("k1", in: a)?.count } == 3)
    let keys = try environment.read { t in
      var found: [[UInt8]] = []
      var cursor = try t.cursor(in: a, over: .prefix("k"))
      while try cursor.next() { found.append([UInt8](copying: cursor.key)) }
      while try cursor.previous() { found.append([UInt8](copying: cursor.value)) }
      return found
    }
    #expect(keys == [Array("k1".utf8), Array("k2".utf8), Array("k3".utf8), [], [4], [1, 2, 3]])
  }

  @Test func writeInsideWriteThrows() throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.write { t in
      try t.set([1], forKey: "outer", in: a)
      #expect(code { try environment.write { _ in } } == .nestedWrite)
      #expect(code { try environment.close() } == .busy)
      #expect(code { try environment.sync() } == .nestedWrite)
    }
    #expect(try environment.text("outer", in: a) != nil)
  }

  @Test func writeInsideRead() throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.read { t in
      try environment.set("new", "k", in: a)
      #expect(t.bytes("k", in: a) == nil)
    }
    #expect(try environment.text("k", in: a) == "new")
  }

  @Test func readInsideWriteSeesThePreviousCommit() throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("old", "k", in: a)
    try environment.write { t in
      try t.set(Array("new".utf8), forKey: "k", in: a)
      #expect(try environment.text("k", in: a) == "old")
      #expect(t.reader.bytes("k", in: a)?.count == 3)
    }
    #expect(try environment.text("k", in: a) == "new")
  }

  @Test func nestedReadsSeeTheirOwnSnapshots() throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("1", "k", in: a)
    try environment.read { outer in
      try environment.set("2", "k", in: a)
      try environment.read { middle in
        try environment.set("3", "k", in: a)
        #expect(try environment.text("k", in: a) == "3")
        #expect(middle.bytes("k", in: a)?[0] == UInt8(ascii: "2"))
      }
      #expect(outer.bytes("k", in: a)?[0] == UInt8(ascii: "1"))
    }
  }

  @Test func throwingTakesBackOneTransactionOrOneNestedOne() throws {
    struct Refusal: Error {}
    let (environment, a) = try Environment.make(at: scratch())
    #expect(throws: Refusal.self) {
      try environment.write { t in
        try t.set([1], forKey: "gone", in: a)
        throw Refusal()
      }
    }
    try environment.write { t in
      try t.set([1], forKey: "kept", in: a)
      #expect(throws: Refusal.self) {
        try t.nested { n in
          try n.set([2], forKey: "kept", in: a)
          try n.set([2], forKey: "gone", in: a)
          throw Refusal()
        }
      }
      try t.nested { try $0.set([3], forKey: "also", in: a) }
    }
    try environment.read { t in
      #expect(t.bytes("gone", in: a) == nil)
      #expect(t.bytes("kept", in: a)?[0] == 1)
      #expect(t.bytes("also", in: a)?[0] == 3)
    }
  }

  @Test func afterCommitRunsOnlyForWhatWasCommitted() throws {
    struct Refusal: Error {}
    let (environment, a) = try Environment.make(at: scratch())
    let log = Log()
    try environment.write { t in
      t.afterCommit { log.append("outer") }
      try? t.nested { n in
        n.afterCommit { log.append("taken back") }
        throw Refusal()
      }
      try t.nested { n in
        try n.set([1], forKey: "k", in: a)
        n.afterCommit { log.append((try? environment.text("k", in: a)) == nil ? "early" : "inner") }
      }
      #expect(log.entries.isEmpty)
    }
    #expect(log.entries == ["outer", "inner"])
  }

  /// A writer that comes back at once must not pass one that has waited.
  @Test func writersTakeTurns() throws {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    let log = Log()
    let first = Pinned.writer(environment)
    var threads: [TestThread] = []
    for n in 0..<5 {
      threads.append(
        TestThread {
          for round in 0..<3 {
            try environment.write { t in
              try t.set([UInt8(round)], forKey: "\(n)", in: a)
              log.append("\(n)")
            }
          }
        })
      while environment.writer.waiting <= n { _ = sched_yield() }
    }
    try first.release()
    for thread in threads { try thread.join() }
    #expect(log.entries.prefix(5) == ["0", "1", "2", "3", "4"])
  }

  @Test func removesRanges() throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.write { t in
      for n in 0..<2500 { try t.set([], forKey: "n\(1_000_000 + n)", in: a) }
      try t.set([], forKey: "other", in: a)
      let removed = try t.removeAll(.prefix("n"), in: a)
      #expect(removed == 2500)
      let isThere = try t.removeValue(forKey: "n1000000", in: a)
      #expect(!isThere)
    }
    #expect(try environment.text("other", in: a) == "")
  }
}
