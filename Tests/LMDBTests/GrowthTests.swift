import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LMDB

@Suite struct GrowthTests {
  let scratch = TemporaryDirectory()
  static let small = Environment.Options(durability: .unsafeNoSync, mapSize: 64 << 10)

  /// HOLDFAST_GROWTH_MIB sets the size, 256 for the whole way.
  @Test func growsUnderEightReaders() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.small)
    let size = setting("HOLDFAST_GROWTH_MIB", or: 24) << 20
    let value = [UInt8](repeating: 7, count: 16 << 10)
    let isDone = Atomic(false)
    let written = Atomic(0)
    let readers = (0..<8).map { _ in
      TestThread { [value] in
        while !isDone.load(ordering: .relaxed) {
          let least = written.load(ordering: .acquiring)
          try environment.read { t in
            for key in [0, least - 1] where least > 0 {
              guard let found = try t.value(forKey: "\(key)", in: a) else { throw Missing(key: key) }
              guard [UInt8](copying: found) == value else { throw Missing(key: key) }
            }
          }
        }
      }
    }
    for n in 0..<size / value.count {
      try environment.write { try $0.set(value, forKey: "\(n)", in: a) }
      written.store(n + 1, ordering: .releasing)
    }
    isDone.store(true, ordering: .relaxed)
    for reader in readers { try reader.join() }
    #expect(try environment.statistics(of: a).entries == size / value.count)
  }

  struct Missing: Error { let key: Int }

  @Test func oneTransactionGrowsAndRunsAgain() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.small)
    var runs = 0
    try environment.write { t in
      runs += 1
      for n in 0..<1000 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
    }
    #expect(runs > 1)
    #expect(try environment.statistics(of: a).entries == 1000)
  }

  /// The list of freed pages is written by the commit, so that the map can be full as late as that.
  @Test func commitThatFillsTheMapGrows() throws {
    let options = Environment.Options(durability: .unsafeNoSync, mapSize: 1 << 20)
    let (environment, a) = try Environment.make(at: scratch(), options)
    var model: [String: UInt8] = [:]
    for round in 0..<120 {
      try environment.write { t in
        for n in 0..<80 where (n * 7 + round) % 3 == 0 {
          try t.set([UInt8](repeating: UInt8(round), count: 1500), forKey: "\(n)", in: a)
          model["\(n)"] = UInt8(round)
        }
      }
    }
    try environment.read { t in
      for (key, value) in model { #expect(t.bytes(key, in: a)?[0] == value) }
    }
    try environment.verify()
  }

  /// Of the numbers of pages that a transaction fills, one leaves no page for the list of those it has freed.
  @Test func commitThatAloneFillsTheMapGrows() throws {
    for count in 20..<60 {
      let (environment, a) = try Environment.make(
        at: scratch("\(count)"), .init(durability: .unsafeNoSync, mapSize: 256 << 10))
      for round in 0..<2 {
        try environment.write { t in
          for n in 0..<4 + round * count { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
        }
      }
      #expect(try environment.statistics(of: a).entries == 4 + count)
    }
  }

  @Test func limitIsAnErrorAndLeavesTheRestUsable() throws {
    let options = Environment.Options(durability: .unsafeNoSync, mapSize: 64 << 10, mapSizeLimit: 256 << 10)
    let (environment, a) = try Environment.make(at: scratch(), options)
    try environment.set("kept", "k", in: a)
    let failure = #expect(throws: StoreError.self) {
      try environment.write { t in
        for n in 0..<1000 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
      }
    }
    #expect(failure?.code == .mapFull)
    #expect(failure?.message.contains("mapSizeLimit") == true)
    try environment.set("more", "l", in: a)
    #expect(try environment.text("k", in: a) == "kept")
    #expect(try environment.text("0", in: a) == nil)
  }

  @Test func errorWhileTheMapIsFullCannotBeSwallowed() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.small)
    try environment.write { t in
      for n in 0..<100 { try? t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
    }
    #expect(try environment.statistics(of: a).entries == 100)
  }

  @Test func pinnedReaderBlocksGrowthWithAnErrorThatNamesIt() throws {
    let options = Environment.Options(durability: .unsafeNoSync, mapSize: 64 << 10, waitLimit: .milliseconds(20))
    let (environment, a) = try Environment.make(at: scratch(), options)
    try environment.set("kept", "k", in: a)
    let fill = { (environment: Environment) in
      try environment.write { t in
        for n in 0..<100 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
      }
    }
    let pin = Pinned.reader(environment)
    let failure = #expect(throws: StoreError.self) { try fill(environment) }
    #expect(failure?.code == .mapFull)
    #expect(failure?.message.contains("1 open snapshot (thread 0x") == true, "\(String(describing: failure))")
    #expect(try environment.text("k", in: a) == "kept")
    try pin.release()
    try fill(environment)
    #expect(try environment.statistics(of: a).entries == 101)
  }

  @Test func writeInsideReadCannotGrowAndSaysSo() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.small)
    try environment.set("kept", "k", in: a)
    try environment.read { t in
      let failure = #expect(throws: StoreError.self) {
        try environment.write { t in
          for n in 0..<100 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
        }
      }
      #expect(failure?.message.contains("this thread") == true)
      #expect(t.bytes("k", in: a)?.count == 4)
    }
  }

  /// A read inside a read must get in while somebody waits for the outer one, or both wait for ever.
  @Test func nestedReadEntersWhileAGrowerWaits() throws {
    let options = Environment.Options(durability: .unsafeNoSync, mapSize: 64 << 10)
    let (environment, a) = try Environment.make(at: scratch(), options)
    let writer = Mutex<TestThread?>(nil)
    try environment.read { _ in
      writer.withLock {
        $0 = TestThread {
          try environment.write { t in
            for n in 0..<100 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
          }
        }
      }
      while !environment.snapshots.isResizing { _ = sched_yield() }
      let seen = try environment.text("0", in: a)
      #expect(seen == nil)
    }
    try writer.withLock { try $0?.join() }
    #expect(try environment.statistics(of: a).entries == 100)
  }

  /// The address space is limited to little more than what the process has.
  @Test func growthThatFailsLeavesTheOldMapWorking() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(
        at: scratch(), Environment.Options(durability: .unsafeNoSync, mapSize: 1 << 20))
      try environment.set("kept", "k", in: a)
      try limitAddressSpace(toMore: 256 << 20)
      var failure: StoreError?
      var written = 0
      do {
        for n in 0..<1000 {
          try environment.write { try $0.set([UInt8](repeating: 1, count: 1 << 20), forKey: "\(n)", in: a) }
          written += 1
        }
      } catch { failure = error as? StoreError }
      #expect(failure?.code == .mapFull && failure?.message.contains("address space") == true, "\(failure as Any)")
      #expect(try environment.text("k", in: a) == "kept")
      #expect(try environment.statistics(of: a).entries == written + 1)
      _ = try environment.write { try $0.removeValue(forKey: "0", in: a) }
      try environment.set("more", "l", in: a)
    }
  }

  /// The second process is an exit test.
  @Test func otherProcessesGrowthIsAdopted() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.small)
    try environment.set("mine", "k", in: a)
    let path = scratch()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let (environment, a) = try Environment.make(at: path, GrowthTests.small)
      try environment.write { t in
        for n in 0..<500 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
      }
    }
    #expect(try environment.read { try $0.value(forKey: "499", in: a)?.count } == 4000)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let (environment, a) = try Environment.make(at: path, GrowthTests.small)
      try environment.write { t in
        for n in 500..<2000 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
      }
    }
    try environment.set("after", "l", in: a)
    #expect(try environment.statistics(of: a).entries == 2002)
  }

  /// Both begin with a small map and grow it past each other's, with readers in this one.
  @Test func growsBesideAnotherGrowingProcess() async throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.small)
    let count = (setting("HOLDFAST_GROWTH_MIB", or: 8) << 20) / (2 * 8000)
    let path = scratch()
    let isDone = Atomic(false)
    // The other process is there once it has opened the pipe; readers before that would only be in its way.
    let began = scratch("began")
    try #require(unsafe mkfifo(began, 0o600) == 0)
    let beside = TestThread {
      close(unsafe open(began, O_RDONLY))
      let readers = (0..<8).map { _ in
        TestThread {
          while !isDone.load(ordering: .relaxed) {
            try environment.read { t in
              var cursor = try t.cursor(in: a)
              while try cursor.next() { if cursor.value[7999] != 7 { throw Missing(key: 0) } }
            }
          }
        }
      }
      defer { isDone.store(true, ordering: .relaxed) }
      try Self.write("mine", count, to: environment, a)
      for reader in readers { try reader.join() }
    }
    await #expect(processExitsWith: .success) {
      [path = path as String, count = count as Int, began = began as String] in
      close(unsafe open(began, O_WRONLY))
      let (environment, a) = try Environment.make(at: path, GrowthTests.small)
      try GrowthTests.write("theirs", count, to: environment, a)
    }
    isDone.store(true, ordering: .relaxed)
    // In case that it never came so far.
    close(unsafe open(began, O_WRONLY | O_NONBLOCK))
    try beside.join()
    #expect(try environment.statistics(of: a).entries == 2 * count)
    try environment.verify()
  }

  static func write(_ name: String, _ count: Int, to environment: Environment, _ a: Database) throws {
    for n in 0..<count {
      try environment.write { try $0.set([UInt8](repeating: 7, count: 8000), forKey: "\(name) \(n)", in: a) }
    }
  }
}
