import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct ForkTests {
  @Test func aChildMayNotUseWhatItsParentOpened() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(at: scratch())
      try environment.set("parent", "k", in: a)
      let isFine = inChild {
        [
          code { try environment.text("k", in: a) }, code { try environment.set("child", "k", in: a) },
          code { try environment.close() }, code { try environment.sync() }, code { try environment.info() },
        ].allSatisfy { $0 == .forked }
      }
      #expect(isFine)
      try environment.set("parent 2", "k", in: a)
      #expect(try environment.text("k", in: a) == "parent 2")
    }
  }

  /// The child leaves the parent's closures, which must neither end a snapshot nor commit.
  @Test func aChildThatLeavesTheClosuresChangesNothing() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(at: scratch())
      try environment.set("old", "k", in: a)
      let parent = getpid()
      do {
        try environment.read { t in
          try environment.write { w in
            try w.set(Array("new".utf8), forKey: "k", in: a)
            let isFine = inChild(leaving: true) { true }
            #expect(isFine)
          }
          // A reader's slot that the child had given back would let the writer reuse these pages.
          for n in 0..<20 { try environment.set("\(n)", "k", in: a) }
          #expect(t.bytes("k", in: a) == Array("old".utf8))
        }
      } catch {
        // Only the child comes here, out of both closures.
        precondition(getpid() != parent)
        _exit((error as? StoreError)?.code == .forked ? 0 : 1)
      }
      precondition(getpid() == parent)
      try environment.verify()
    }
  }

  /// The parent takes the write back; a child that had committed it would have made it last.
  @Test func aChildThatLeavesAWriteCommitsNothing() async {
    await #expect(processExitsWith: .success) {
      struct Refusal: Error {}
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(at: scratch())
      try environment.set("old", "k", in: a)
      let parent = getpid()
      var failure: (any Error)?
      do {
        try environment.write { t in
          try t.set(Array("new".utf8), forKey: "k", in: a)
          let isFine = inChild(leaving: true) { true }
          #expect(isFine)
          if getpid() == parent { throw Refusal() }
        }
      } catch { failure = error }
      if getpid() != parent { _exit((failure as? StoreError)?.code == .forked ? 0 : 1) }
      #expect(failure is Refusal)
      #expect(try environment.text("k", in: a) == "old")
      try environment.set("next", "k", in: a)
      try environment.verify()
    }
  }

  /// Dropping the last reference in the child closes nothing of the parent's.
  @Test func aChildThatDropsTheEnvironmentLeavesItOpen() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      var environment: Environment? = try Environment.make(at: scratch()).0
      let a = try environment!.database("a")
      try environment!.set("1", "k", in: a)
      let isFine = inChild {
        environment = nil
        // What the child opens itself is its own.
        guard let (own, b) = try? Environment.make(at: scratch()) else { return false }
        return (try? own.text("k", in: b)) == "1"
      }
      #expect(isFine)
      try environment!.set("2", "k", in: a)
      #expect(try environment!.text("k", in: a) == "2")
    }
  }

  /// A child has copies of all descriptors, and may live longer than its parent has the file open.
  @Test func aChildDoesNotKeepTheFileOpen() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(at: scratch())
      try environment.set("1", "k", in: a)
      try besideAChild {
        try environment.close()
        _ = GuardTests.exchange(Registry())
        let (again, b) = try Environment.make(at: scratch())
        #expect(try again.text("k", in: b) == "1")
      }
    }
  }

  /// Nor does one keep other processes from having it alone.
  @Test func aChildDoesNotKeepTheFileShared() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let environment = try Environment.make(at: scratch()).0
      try besideAChild {
        try environment.close()
        let isFine = inChild { code { try Environment.make(at: scratch()).0.compact() } == nil }
        #expect(isFine)
      }
    }
  }

  /// A thread that opens something has a lock at any moment, and does not exist in the child.
  ///
  /// What is opened first has the runtime make its types; its locks are not ours, and no fork minds them.
  @Test(.disabled(if: ThreadSanitizer.isOn)) func aChildCanOpenWhateverItsParentDid() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      _ = try Environment.make(at: scratch("first"))
      let isDone = Monitor(false)
      let opener = TestThread {
        var number = 0
        while !isDone.update({ $0 }) {
          number += 1
          _ = try Environment.make(at: scratch("\(number)"))
        }
      }
      for _ in 0..<20 {
        let isFine = inChild { code { try Environment.make(at: scratch("child")) } == nil }
        #expect(isFine)
      }
      isDone.update { $0 = true }
      try opener.join()
    }
  }

  /// Also when nothing was ever opened before.
  @Test(.disabled(if: ThreadSanitizer.isOn)) func aChildCanOpenWhatItsParentWasTheFirstToOpen() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (isInside, isAboutToFork) = (Monitor(false), Monitor(false))
      let opener = TestThread {
        try Registry.shared.update { _ in
          // The runtime makes these types now, and not while the process forks.
          try File(scratch.path, .directory).synchronize()
          isInside.update { $0 = true }
          while !isAboutToFork.update({ $0 }) {}
          // As an opening would, for a while that is longer than a fork takes.
          for _ in 0..<50 { try File(scratch.path, .directory).synchronize() }
        }
      }
      while !isInside.update({ $0 }) {}
      isAboutToFork.update { $0 = true }
      let isFine = inChild { code { try Environment.make(at: scratch("child")) } == nil }
      #expect(isFine)
      try opener.join()
    }
  }

  @Test(arguments: ["env/data.mdb", "env/lock.mdb", "env"])
  func whatIsReplacedIsNoticedByTheWriter(_ name: String) throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("old", "k", in: a)
    let backup = scratch("backup")
    try FileManager.default.copyItem(atPath: scratch(name), toPath: backup)
    try environment.set("new", "k", in: a)
    try FileManager.default.moveItem(atPath: scratch(name), toPath: scratch("moved"))
    try FileManager.default.moveItem(atPath: backup, toPath: scratch(name))
    // Would put a file of its own in the place of somebody else's.
    #expect(code { try environment.compact() } == .poisoned)
    #expect(code { try environment.set("lost", "k", in: a) } == .poisoned)
    let (again, b) = try Environment.make(at: scratch())
    #expect(again !== environment)
    #expect(try again.text("k", in: b) == (name == "env/lock.mdb" ? "new" : "old"))
    try again.set("newer", "k", in: b)
  }

  /// Two handles of LMDB on one lock file forget each other's readers.
  @Test func aReplacedDataFileIsOpenedOnceTheOldOneIsClosed() throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch(), .init(waitLimit: .zero))
    try environment.set("old", "k", in: a)
    try FileManager.default.copyItem(atPath: scratch("env/data.mdb"), toPath: scratch("backup"))
    try FileManager.default.removeItem(atPath: scratch("env/data.mdb"))
    try FileManager.default.moveItem(atPath: scratch("backup"), toPath: scratch("env/data.mdb"))
    try environment.read { t in
      #expect(code { try Environment.make(at: scratch()) } == .busy)
      #expect(t.bytes("k", in: a) == Array("old".utf8))
    }
    let (again, b) = try Environment.make(at: scratch())
    #expect(code { try environment.text("k", in: a) } == .closed)
    #expect(try again.text("k", in: b) == "old")
  }

  @Test func aMovedDirectoryIsOpenedAnew() throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("1", "k", in: a)
    try FileManager.default.moveItem(atPath: scratch(), toPath: scratch("elsewhere"))
    let (again, b) = try Environment.make(at: scratch("elsewhere"))
    #expect(again.path.hasSuffix("/elsewhere"))
    try again.set("2", "k", in: b)
    #expect(try again.text("k", in: b) == "2")
  }

  @Test func aReplacedLockFileIsNoticedByTheWriter() throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("old", "k", in: a)
    try FileManager.default.moveItem(atPath: scratch("env/lock.mdb"), toPath: scratch("env/old.mdb"))
    let failure = #expect(throws: StoreError.self) { try environment.set("new", "k", in: a) }
    #expect(failure?.code == .poisoned && failure?.message.contains("lock.mdb") == true)
    #expect(code { try environment.text("k", in: a) } == .poisoned)
    let (again, b) = try Environment.make(at: scratch())
    #expect(again !== environment)
    #expect(try again.text("k", in: b) == "old")
    try again.set("new", "k", in: b)
  }
}

/// The system's `fork`, which Swift hides.
private func fork() -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  let fork = unsafe unsafeBitCast(dlsym(dlopen(nil, RTLD_NOW), "fork")!, to: Fork.self)
  return fork()
}

/// Runs `body` beside a child made by `fork`, which has what the parent has and does nothing.
private func besideAChild(_ body: () throws -> Void) rethrows {
  let child = fork()
  precondition(child >= 0)
  if child == 0 { while true { pause() } }
  defer {
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
  }
  try body()
}

/// Runs `body` in a child made by `fork`, and says whether it returned `true` there.
///
/// With `leaving`, the child returns from here as the parent does, and ends on its own.
private func inChild(leaving: Bool = false, _ body: () -> Bool) -> Bool {
  let child = fork()
  precondition(child >= 0)
  if child == 0 {
    if leaving { return body() }
    // So that one that waits for ever ends. Threads that tasks share take no signals.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGALRM)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    alarm(60)
    _exit(body() ? 0 : 1)
  }
  var status: Int32 = 0
  unsafe waitpid(child, &status, 0)
  return status == 0
}
