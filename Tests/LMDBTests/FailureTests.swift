import Foundation
import TestSupport
import Testing

@testable import LMDB

/// What a device does to a commit. Everything happens in a process of its own, whose calls fail on demand.
@Suite(.enabled(if: FaultShim.isLoaded, "a C compiler (cc) is needed for the library that fails calls"))
struct FailureTests {
  /// An environment with one commit, then `fault`, then another commit.
  static func failing(
    _ call: FaultShim.Call, with code: Int32, _ body: (Environment, Database, StoreError?) throws -> Void
  ) throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("old", "k", in: a)
    FaultShim.fail(call, with: code)
    let failure = #expect(throws: StoreError.self) { try environment.set("new", "k", in: a) }
    try body(environment, a, failure)
    // Whatever happened: an environment that is opened again holds what was acknowledged, and takes more.
    let (again, b) = try Environment.make(at: scratch())
    let value = try again.text("k", in: b)
    #expect(value == "old" || value == "next")
    try again.set("last", "k", in: b)
    try again.verify()
    #expect(try again.text("k", in: b) == "last")
  }

  @Test func failedFlushPoisons() async {
    await #expect(processExitsWith: .success) {
      try FailureTests.failing(.flush, with: EIO) { environment, a, failure in
        #expect(failure?.code == .io)
        FailureTests.expectPoisoned(environment, a)
      }
    }
  }

  @Test func failedHeaderWritePoisons() async {
    await #expect(processExitsWith: .success) {
      try FailureTests.failing(.metaWrite, with: EIO) { environment, a, failure in
        #expect(failure?.code == .io)
        FailureTests.expectPoisoned(environment, a)
      }
    }
  }

  @Test func failedDataWritePoisons() async {
    await #expect(processExitsWith: .success) {
      try FailureTests.failing(.dataWrite, with: EIO) { environment, a, failure in
        #expect(failure?.code == .io)
        FailureTests.expectPoisoned(environment, a)
      }
    }
  }

  @Test(arguments: [ENOSPC, EDQUOT, EFBIG])
  func fullDiskLeavesTheRestUsable(_ errno: Int32) async {
    await #expect(processExitsWith: .success) { [errno = errno as Int32] in
      try FailureTests.failing(.dataWrite, with: errno) { environment, a, failure in
        #expect(failure?.code == .diskFull)
        #expect(try environment.text("k", in: a) == "old")
        try environment.set("next", "k", in: a)
      }
    }
  }

  @Test func failedHeaderWriteOnAFullDiskPoisonsTheNextWrite() async {
    await #expect(processExitsWith: .success) {
      try FailureTests.failing(.metaWrite, with: ENOSPC) { environment, a, failure in
        #expect(failure?.code == .diskFull)
        // LMDB itself refuses from here on.
        #expect(code { try environment.set("next", "k", in: a) } == .poisoned)
        FailureTests.expectPoisoned(environment, a)
      }
    }
  }

  @Test func everyMemberOfAGroupHearsOfAFailedFlush() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(at: scratch())
      let pin = Pinned.writer(environment)
      var tasks: [Task<Void, any Error>] = []
      for n in 0..<20 {
        tasks.append(Task { try await environment.write { try $0.set([1], forKey: "\(n)", in: a) } })
        // The thread fetches the first alone; the others are a group.
        while n == 0 ? !environment.asynchronousWriter.isBusy : environment.asynchronousWriter.pending < n {
          await Task.yield()
        }
      }
      FaultShim.fail(.flush, with: EIO, forever: true)
      try pin.release()
      for task in tasks {
        guard case .failure(let error) = await task.result else { preconditionFailure("acknowledged") }
        let code = (error as? StoreError)?.code
        #expect(code == .io || code == .poisoned)
      }
      FaultShim.fail(.flush, with: 0)
      let (again, b) = try Environment.make(at: scratch())
      #expect(try again.statistics(of: b).entries <= 20)
      try again.verify()
    }
  }

  @Test func eachDurabilityHasItsFlushes() async {
    await #expect(processExitsWith: .success) {
      for durability in [Environment.Options.Durability.full, .relaxed, .unsafeNoSync] {
        let expected = durability == .full ? 2 : durability == .relaxed ? 1 : 0
        let counted = try FailureTests.flushes(with: durability)
        #expect(counted == [expected, 0, 1, 2, 1, expected])
      }
    }
  }

  /// The flushes of a commit, an empty commit, a sync, a commit asked to be full, one asked to be relaxed, a commit.
  static func flushes(with durability: Environment.Options.Durability) throws -> [Int] {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: durability))
    let weakened = code { try environment.write(durability: .unsafeNoSync) { _ in } }
    #expect(weakened == (durability == .unsafeNoSync ? nil : .invalidOption))
    let steps: [() throws -> Void] = [
      { try environment.set("1", "k", in: a) },
      { try environment.write { _ in } },
      { try environment.sync() },
      { try environment.write(durability: .full) { try $0.set([1], forKey: "k", in: a) } },
      { try environment.write(durability: .relaxed) { try $0.set([1], forKey: "k", in: a) } },
      { try environment.set("2", "k", in: a) },
    ]
    return try steps.map { step in
      let before = FaultShim.flushes
      try step()
      return FaultShim.flushes - before
    }
  }

  @Test func failedSyncPoisons() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(at: scratch(), .init(durability: .relaxed))
      try environment.set("old", "k", in: a)
      FaultShim.fail(.flush, with: EIO)
      #expect(code { try environment.sync() } == .io)
      FailureTests.expectPoisoned(environment, a)
    }
  }

  static func expectPoisoned(_ environment: Environment, _ a: Database) {
    #expect(code { try environment.text("k", in: a) } == .poisoned)
    #expect(code { try environment.set("more", "k", in: a) } == .poisoned)
    #expect(code { try environment.sync() } == .poisoned)
    #expect(code { try environment.info() } == .poisoned)
  }
}
