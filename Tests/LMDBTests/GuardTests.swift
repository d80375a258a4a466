import Foundation
import TestSupport
import Testing

@testable import LMDB

/// What LMDB does not notice of its surroundings.
@Suite struct GuardTests {
  /// A copy of the library in the same process, say in a plug-in, has a registry of its own, which is empty.
  @Test func anotherCopyOfTheLibraryIsRefused() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (first, a) = try Environment.make(at: scratch())
      try first.set("A", "k", in: a)
      let mine = GuardTests.exchange(Registry())
      for mode in [Environment.Options.Mode.createIfMissing, .mustExist, .readOnly] {
        let failure = #expect(throws: StoreError.self) { try Environment.make(at: scratch(), .init(mode: mode)) }
        #expect(failure?.code == .alreadyOpen && failure?.message.contains("another copy") == true)
      }
      let theirs = GuardTests.exchange(mine)
      // The one that is open has lost nothing: its snapshots and its locks are as they were.
      try first.read { t in
        for n in 0..<10 { try first.set("B\(n)", "k", in: a) }
        #expect(t.bytes("k", in: a) == [UInt8(ascii: "A")])
      }
      // Nor does the rebuilt file lose the mark.
      try first.compact()
      let compacted = GuardTests.exchange(theirs)
      #expect(code { try Environment.make(at: scratch()) } == .alreadyOpen)
      _ = GuardTests.exchange(compacted)
      try first.close()
      _ = GuardTests.exchange(Registry())
      let (second, b) = try Environment.make(at: scratch())
      #expect(try second.text("k", in: b) == "B9")
    }
  }

  static func exchange(_ new: Registry) -> Registry {
    Registry.shared.update { registry in
      defer { registry = new }
      return registry
    }
  }

  @Test func programsThatAreStartedGetNoDescriptor() throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("value", "k", in: a)
    try environment.compact()
    let path = environment.path
    var found = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      guard let descriptor = Int32(name), target?.hasPrefix(path) == true else { continue }
      found += 1
      #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(target ?? "")")
    }
    // LMDB's three and the one of ours.
    #expect(found == 4)
  }

  @Test func tooManyOpenFilesAreAnErrorThatMayPass() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let next = dup(2)
      close(next)
      for more in [0, 1, 2, 3] {
        limitOpenFiles(to: Int(next) + more)
        let failure = #expect(throws: StoreError.self) { try Environment.make(at: scratch()) }
        #expect(failure?.code == .busy && failure?.message.contains("too many files") == true, "\(failure as Any)")
      }
      limitOpenFiles(to: Int(next) + 100)
      let (environment, a) = try Environment.make(at: scratch())
      try environment.set("value", "k", in: a)
      limitOpenFiles(to: Int(next) + 5)
      #expect(code { try environment.compact() } == .busy)
      #expect(try environment.text("k", in: a) == "value")
    }
  }

  @Test func whatIsNoFileIsRefused() throws {
    let scratch = TemporaryDirectory()
    for name in ["pipe", "directory"] {
      try FileManager.default.createDirectory(atPath: scratch(name), withIntermediateDirectories: false)
    }
    try #require(unsafe mkfifo(scratch("pipe/data.mdb"), 0o600) == 0)
    try FileManager.default.createDirectory(
      atPath: scratch("directory/data.mdb"), withIntermediateDirectories: false)
    for name in ["pipe", "directory"] {
      #expect(code { try Environment.make(at: scratch(name)) } == .notADatabase)
    }
  }

  @Test func aMapThatDoesNotFitIsHalvedUntilItDoes() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      try limitAddressSpace(toMore: 1 << 30)
      let (environment, a) = try Environment.make(at: scratch())
      try environment.set("value", "k", in: a)
      let size = try environment.info().mapSize
      #expect(size >= 64 << 20 && size < 1 << 30)
    }
  }

  @Test func noRoomForTheWriterThreadIsAnError() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      let (environment, a) = try Environment.make(
        at: scratch(), .init(durability: .relaxed, mapSize: 1 << 20))
      askForThreadsThatFitNowhere()
      let failure = await #expect(throws: StoreError.self) {
        try await environment.write { try $0.set([1], forKey: "k", in: a) }
      }
      #expect(failure?.code == .busy && failure?.message.contains("writer thread") == true, "\(failure as Any)")
      #expect(!environment.asynchronousWriter.isBusy && environment.asynchronousWriter.pending == 0)
      try environment.set("value", "k", in: a)
    }
  }

  @Test func equalProcessNumbersAreExplained() {
    #expect(StoreError.posix(EAGAIN, "begin").message.contains("PID namespace"))
  }
}
