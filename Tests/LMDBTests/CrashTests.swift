import Foundation
import TestSupport
import Testing

@testable import LMDB

/// The process is killed while it writes; what was committed must be there, and nothing else.
@Suite struct CrashTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/env" }

  private static func keys(_ path: String) throws -> Int {
    let environment = try Environment.open(at: path, databases: ["a"])
    let a = try environment.database("a")
    return try environment.read { t in
      var count = 0
      var cursor = try t.cursor(in: a)
      while try cursor.next() {
        #expect(cursor.value.count == 3000)
        count += 1
      }
      return count
    }
  }

  private static func add(_ range: Range<Int>, to environment: Environment, then last: () -> Void = {}) throws {
    let a = try environment.database("a")
    try environment.write { t in
      for index in range { try t.set([UInt8](repeating: 7, count: 3000), forKey: "k\(index)", in: a) }
      last()
    }
  }

  @Test func killedInsideAWrite() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(at: path, databases: ["a"])
      try Self.add(0..<100, to: environment)
      try Self.add(100..<200, to: environment) { kill(getpid(), SIGKILL) }
    }
    #expect(try Self.keys(path) == 100)
    try Self.add(100..<150, to: Environment.open(at: path, databases: ["a"]))
    #expect(try Self.keys(path) == 150)
  }

  /// The commit has rewritten pages and is about to append others, when a file size limit raises a signal that kills.
  @Test func killedInsideACommit() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(at: path, databases: ["a"])
      try Self.add(0..<100, to: environment)
      let size = try File("\(path)/data.mdb", .read).size()
      signal(SIGXFSZ) { _ in kill(getpid(), SIGKILL) }
      // Threads of the cooperative pool block signals.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGXFSZ)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      limitFileSize(to: size)
      try Self.add(100..<300, to: environment)
    }
    #expect(try Self.keys(path) == 100)
    try Self.add(100..<150, to: Environment.open(at: path, databases: ["a"]))
    #expect(try Self.keys(path) == 150)
  }

  @Test func aFullDiskHalvesNothing() async throws {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try Environment.open(at: path, databases: ["a"])
      try Self.add(0..<100, to: environment)
      let size = try File("\(path)/data.mdb", .read).size()
      signal(SIGXFSZ, SIG_IGN)
      limitFileSize(to: size + 40_000)
      do {
        try Self.add(100..<300, to: environment)
        Issue.record("the commit must fail")
      } catch let error as StoreError {
        #expect([.io, .diskFull].contains(error.code))
      }
      #expect(try Self.keys(path) == 100)
    }
    #expect(try Self.keys(path) == 100)
  }
}

private func limitFileSize(to size: Int) {
  #if canImport(Darwin)
    let resource = RLIMIT_FSIZE
  #else
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #endif
  var limit = rlimit()
  getrlimit(resource, &limit)
  limit.rlim_cur = rlim_t(size)
  setrlimit(resource, &limit)
}
