import Foundation
import LMDB
import TestSupport
import Testing

/// Ends of a process at the worst moment.
@Suite struct CrashTests {
  let scratch = TemporaryDirectory()

  @Test func killedInsideAWriteLeavesThePreviousCommit() async throws {
    let path = scratch()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let (environment, a) = try Environment.make(at: path)
      try environment.set("old", "k", in: a)
      try environment.write { t in
        try t.set(Array("new".utf8), forKey: "k", in: a)
        for n in 0..<5000 { try t.set([UInt8](repeating: 1, count: 1000), forKey: "\(n)", in: a) }
        kill(getpid(), SIGKILL)
      }
    }
    let (environment, a) = try Environment.make(at: path)
    #expect(try environment.text("k", in: a) == "old")
    #expect(try environment.statistics(of: a).entries == 1)
    // The lock of the dead writer is free.
    try environment.set("next", "k", in: a)
    try environment.verify()
  }

  /// The open environment of this process takes over from the dead one.
  @Test func killedWriterFreesItsLockForTheOthers() async throws {
    let (environment, a) = try Environment.make(at: scratch())
    let path = scratch()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let (environment, _) = try Environment.make(at: path)
      try environment.write { _ in _ = kill(getpid(), SIGKILL) }
    }
    try environment.set("next", "k", in: a)
    #expect(try environment.text("k", in: a) == "next")
  }

  /// Killed by its first flush, which is inside the commit: the data is written, the header is not.
  @Test(.enabled(if: FaultShim.isLoaded, "a C compiler (cc) is needed"), arguments: FaultShim.Call.allCases)
  func killedInsideACommit(_ call: FaultShim.Call) async throws {
    let path = scratch()
    let number = call.rawValue
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, number = number as Int32] in
      let (environment, a) = try Environment.make(at: path)
      try environment.set("old", "k", in: a)
      FaultShim.kill(at: FaultShim.Call(rawValue: number)!)
      try environment.set("new", "k", in: a)
    }
    let (environment, a) = try Environment.make(at: path)
    #expect(try environment.text("k", in: a) == "old")
    try environment.set("next", "k", in: a)
    try environment.verify()
  }

  /// A child writes numbered transactions and says so after each commit, until it is killed at a random byte of that.
  ///
  /// HOLDFAST_KILLS sets the rounds, 200 for a long run; HOLDFAST_SEED repeats one.
  @Test func killedAtRandomPointsKeepsWhatWasAcknowledged() async throws {
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for round in 0..<setting("HOLDFAST_KILLS", or: 8) {
      let acknowledged = scratch("acknowledged-\(round)")
      try Data().write(to: URL(filePath: acknowledged))
      let rest = Int.random(in: 1...40, using: &generator)
      let path = scratch()
      let seed = Int.random(in: 0..<1 << 30, using: &generator)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, acknowledged = acknowledged as String, rest = rest as Int, seed = seed as Int] in
        try CrashWriter(path, acknowledged, seed: UInt64(seed)).run(untilAbout: rest)
      }
      let last = try Data(contentsOf: URL(filePath: acknowledged)).count
      let (environment, a) = try Environment.make(at: path)
      try environment.verify()
      let (counter, sum, entries) = try environment.read { t in
        (
          t.bytes("counter", in: a)?.count ?? 0, t.bytes("sum", in: a)?.count ?? 0,
          try environment.statistics(of: a).entries
        )
      }
      // One more may be there: committed, but killed before it could say so.
      #expect(counter == last || counter == last + 1, "round \(round), seed \(seed)")
      #expect(sum == counter % 97)
      #expect(entries == (counter == 0 ? 0 : 2 + min(counter, 50)))
      try FileManager.default.removeItem(atPath: path)
    }
  }
}

/// Writes until it is killed by a thread of its own.
private struct CrashWriter {
  let environment: Environment
  let database: Database
  let log: FileHandle
  let seed: UInt64

  init(_ path: String, _ acknowledged: String, seed: UInt64) throws {
    (environment, database) = try Environment.make(at: path)
    log = try FileHandle(forWritingTo: URL(filePath: acknowledged))
    self.seed = seed
  }

  /// Kills the process somewhere in the transaction after `count` acknowledged ones.
  func run(untilAbout count: Int) throws {
    var generator = SeededGenerator(seed: seed)
    let spins = Int.random(in: 0..<300_000, using: &generator)
    for n in 1...count + 1000 {
      if n == count {
        _ = TestThread {
          var sum = 0
          for spin in 0..<spins { sum &+= spin &* sum }
          kill(getpid(), SIGKILL)
          print(sum)
        }
      }
      try environment.write { t in
        try t.set([UInt8](repeating: 1, count: n), forKey: "counter", in: database)
        for key in 0..<50 where key == n % 50 || Bool.random(using: &generator) && key < min(n, 50) {
          try t.set([UInt8](repeating: UInt8(n % 251), count: key * 50), forKey: "\(key)", in: database)
        }
        for key in 0..<min(n, 50) where try t.value(forKey: "\(key)", in: database) == nil {
          try t.set([], forKey: "\(key)", in: database)
        }
        if n < 50 { try t.removeValue(forKey: "\(n % 50)", in: database) }
        try t.set([UInt8](repeating: 1, count: n % 97), forKey: "sum", in: database)
      }
      try log.write(contentsOf: Data([1]))
    }
  }
}
