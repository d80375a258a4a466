import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct EnvironmentTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/env" }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test func storesReadsAndRemoves() throws {
    let environment = try Environment.open(at: path, databases: ["a", "b"])
    let a = try environment.database("a")
    let b = try environment.database("b")
    try environment.write { t in
      try t.set([1, 2, 3], forKey: "k", in: a)
      try t.set([], forKey: "empty", in: a)
      try t.set([9], forKey: "k", in: b)
    }
    try environment.read { t in
      #expect(try t.value(forKey: "k", in: a)?.count == 3)
      #expect(try t.value(forKey: "empty", in: a)?.count == 0)
      #expect(try t.value(forKey: "k", in: b)?.count == 1)
      let isMissing = try t.value(forKey: "none", in: a) == nil
      #expect(isMissing)
      #expect(try t.count(of: a) == 2)
    }
    for wasThere in [true, false] {
      let isRemoved = try environment.write { t in try t.removeValue(forKey: "k", in: a) }
      #expect(isRemoved == wasThere)
    }
  }

  @Test func aSnapshotDoesNotSeeLaterCommits() throws {
    let environment = try Environment.open(at: path, databases: ["a"])
    let a = try environment.database("a")
    try environment.write { t in try t.set([1], forKey: "k", in: a) }
    try environment.read { old in
      try environment.write { t in try t.set([2], forKey: "k", in: a) }
      #expect(try old.value(forKey: "k", in: a)?[0] == 1)
      let newest = try environment.read { new in try new.value(forKey: "k", in: a)?[0] }
      #expect(newest == 2)
    }
  }

  @Test func aThrowingWriteLeavesNothing() throws {
    struct Stop: Error {}
    let environment = try Environment.open(at: path, databases: ["a"])
    let a = try environment.database("a")
    #expect(throws: Stop.self) {
      try environment.write { t in
        try t.set([1], forKey: "k", in: a)
        throw Stop()
      }
    }
    #expect(try environment.read { t in try t.count(of: a) } == 0)
  }

  @Test func aNestedTransactionIsTakenBackAlone() throws {
    struct Stop: Error {}
    let environment = try Environment.open(at: path, databases: ["a"])
    let a = try environment.database("a")
    let ran = Flag()
    try environment.write { t in
      try t.set([1], forKey: "outer", in: a)
      do {
        try t.nested { nested in
          try nested.set([1], forKey: "inner", in: a)
          nested.afterCommit { ran.raise("dropped") }
          throw Stop()
        }
      } catch is Stop {}
      try t.nested { nested in
        try nested.set([1], forKey: "kept", in: a)
        nested.afterCommit { ran.raise("kept") }
      }
    }
    #expect(try environment.read { t in try t.count(of: a) } == 2)
    #expect(ran.names == ["kept"])
  }

  @Test func aWriteInsideAWriteThrowsInsteadOfHanging() throws {
    let environment = try Environment.open(at: path, databases: ["a"])
    try environment.write { _ in
      #expect(code { try environment.write { _ in } } == .nestedWrite)
    }
    try environment.write { _ in }
  }

  @Test func keysOfEachLength() throws {
    let environment = try Environment.open(at: path, databases: ["a"])
    let a = try environment.database("a")
    try environment.write { t in
      for length in [0, 512, 5000] {
        #expect {
          try t.set([1], forKey: String(repeating: "k", count: length), in: a)
        } throws: { ($0 as? StoreError)?.code == .invalidKey }
      }
      for length in 1...511 { try t.set([1], forKey: String(repeating: "k", count: length), in: a) }
    }
    #expect(try environment.read { t in try t.count(of: a) } == 511)
  }

  @Test func theSameFileIsTheSameEnvironment() throws {
    let first = try Environment.open(at: path, databases: ["a"])
    let second = try Environment.open(at: "\(path)/../env", databases: ["a"])
    #expect(first === second)
    #expect(code { _ = try Environment.open(at: path, databases: ["a", "b"]) } == .alreadyOpen)
    let relaxed = Environment.Options(durability: .relaxed)
    #expect {
      _ = try Environment.open(at: path, databases: ["a"], options: relaxed)
    } throws: { "\($0)".contains("durability") }
  }

  @Test func anotherEnvironmentsDatabaseTraps() async {
    await #expect(processExitsWith: .failure) { [path = path as String] in
      let first = try Environment.open(at: "\(path)1", databases: ["a"])
      let second = try Environment.open(at: "\(path)2", databases: ["a"])
      let foreign = try first.database("a")
      _ = try second.read { t in try t.value(forKey: "k", in: foreign)?.count }
    }
  }

  @Test func whatCannotBeOpenedIsNamed() throws {
    let file = "\(directory.path)/file"
    try Data("text".utf8).write(to: URL(fileURLWithPath: file))
    #expect(code { _ = try Environment.open(at: file, databases: []) } == .notADirectory)
    #expect(code { _ = try Environment.open(at: "\(directory.path)/no/parent", databases: []) } == .notFound)
    let mustExist = Environment.Options(mode: .mustExist)
    #expect(code { _ = try Environment.open(at: directory.path, databases: [], options: mustExist) } == .notFound)
    #expect(code { _ = try Environment.open(at: "/proc/none", databases: []) } != nil)
    #expect(FileManager.default.fileExists(atPath: "\(directory.path)/data.mdb") == false)
  }

  @Test func aHeaderThatIsDamagedIsRefusedAndLeftAlone() throws {
    do { _ = try Environment.open(at: path, databases: ["a"]) }
    let file = URL(fileURLWithPath: "\(path)/data.mdb")
    let sound = try Data(contentsOf: file)
    func refused(_ change: (inout Data) -> Void) throws -> StoreError.Code? {
      var data = sound
      change(&data)
      try data.write(to: file)
      let code = code { _ = try Environment.open(at: path, databases: ["a"]) }
      #expect(try Data(contentsOf: file) == data)
      return code
    }
    #expect(try refused { $0 = Data() } == .damaged)
    #expect(try refused { $0 = Data("garbage".utf8) } == .notADatabase)
    #expect(try refused { $0 = Data(repeating: 7, count: 9000) } == .notADatabase)
    #expect(try refused { $0[20] = 3 } == .unsupportedVersion)
    #expect(try refused { $0[20] = 99 } == .unsupportedVersion)
    #expect(try refused { $0.replaceSubrange(40..<44, with: [0, 0, 0, 0]) } == .damaged)
    #expect(try refused { $0[4096 + 16] ^= 1 } == .damaged)
    #expect(try refused { $0 = $0.prefix(4096) } == .damaged)
    #expect(try refused { $0.removeSubrange(8192...) } == .damaged)
    try sound.write(to: file)
    _ = try Environment.open(at: path, databases: ["a"])
  }

  @Test func linksAreRefused() throws {
    do { _ = try Environment.open(at: path, databases: ["a"]) }
    let data = "\(path)/data.mdb"
    try FileManager.default.linkItem(atPath: data, toPath: "\(directory.path)/second-name")
    #expect(code { _ = try Environment.open(at: path, databases: ["a"]) } == .invalidOption)
    try FileManager.default.moveItem(atPath: "\(directory.path)/second-name", toPath: data + ".real")
    try FileManager.default.removeItem(atPath: data)
    try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: data + ".real")
    #expect(code { _ = try Environment.open(at: path, databases: ["a"]) } == .invalidOption)
  }

  @Test func aTornCreationIsMadeAnew() throws {
    try FileManager.default.createDirectory(atPath: "\(path)/.new-data", withIntermediateDirectories: true)
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(path)/.new-data/data.mdb"))
    _ = try Environment.open(at: path, databases: ["a"])
    #expect(try FileSystem.names(in: path).sorted() == ["data.mdb", "lock.mdb"])
  }

  @Test func readOnlyReadsAndDoesNotWrite() throws {
    do {
      let environment = try Environment.open(at: path, databases: ["a"])
      let a = try environment.database("a")
      try environment.write { t in try t.set([1], forKey: "k", in: a) }
    }
    let options = Environment.Options(mode: .readOnly)
    let environment = try Environment.open(at: path, databases: ["a"], options: options)
    let a = try environment.database("a")
    #expect(try environment.read { t in try t.count(of: a) } == 1)
    #expect(code { try environment.write { _ in } } == .readOnly)
  }

  @Test func asynchronousWritesKeepTheirOrderAndReportTheirErrors() async throws {
    struct Stop: Error {}
    let environment = try Environment.open(at: path, databases: ["a"])
    let a = try environment.database("a")
    try await withThrowingTaskGroup { group in
      for index in 0..<50 {
        group.addTask {
          do {
            try await environment.write { t in
              try t.set([UInt8(index)], forKey: "k\(index)", in: a)
              if index % 5 == 0 { throw Stop() }
            }
          } catch is Stop {}
        }
      }
      try await group.waitForAll()
    }
    #expect(try environment.read { t in try t.count(of: a) } == 40)
  }
}

/// Names, in the order in which they were raised.
private final class Flag: Sendable {
  private let raised = Monitor<[String]>([])

  var names: [String] { raised.update { $0 } }

  func raise(_ name: String) { raised.update { $0.append(name) } }
}
