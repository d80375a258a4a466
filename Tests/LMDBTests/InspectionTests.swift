import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct InspectionTests {
  let scratch = TemporaryDirectory()
  static let unsynced = Environment.Options(durability: .unsafeNoSync)

  /// Keys of a set in random order, which leaves pages half full.
  private static func fill(_ environment: Environment, _ database: Database, count: Int) throws {
    var generator = SeededGenerator(seed: 1)
    let keys = (0..<count).shuffled(using: &generator)
    for part in stride(from: 0, to: count, by: 500) {
      try environment.write { t in
        for key in keys[part..<min(count, part + 500)] {
          try t.set([UInt8](repeating: UInt8(key % 251), count: 100), forKey: key.text, in: database)
        }
      }
    }
  }

  private static func check(_ environment: Environment, _ database: Database, count: Int) throws {
    try environment.verify()
    let found = try environment.read { t in
      var found = 0
      var cursor = try t.cursor(in: database)
      while try cursor.next() {
        guard [UInt8](copying: cursor.key) == Array(found.text.utf8), cursor.value[99] == UInt8(found % 251) else {
          return -1
        }
        found += 1
      }
      return found
    }
    #expect(found == count)
  }

  @Test func statisticsCountPages() throws {
    let environment = try Environment.open(at: scratch(), databases: ["a", "b"], options: Self.unsynced)
    let a = try environment.database("a")
    #expect(
      try environment.statistics(of: a) == .init(entries: 0, depth: 0, branchPages: 0, leafPages: 0, overflowPages: 0))
    try environment.write { t in
      for n in 0..<1000 { try t.set([UInt8](repeating: 0, count: 100), forKey: n.text, in: a) }
      try t.set([UInt8](repeating: 0, count: 10_000), forKey: "large", in: a)
    }
    let statistics = try environment.statistics(of: a)
    #expect(statistics.entries == 1001)
    #expect(statistics.depth == 2)
    #expect(statistics.branchPages == 1)
    #expect(statistics.leafPages > 25)
    #expect(statistics.overflowPages == 3)
    #expect(try environment.statistics(of: environment.database("b")).entries == 0)
    #expect(try environment.databaseNames() == ["a", "b"])
    try environment.verify()
  }

  @Test func infoCountsFreePages() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    try Self.fill(environment, a, count: 2000)
    let before = try environment.info()
    try environment.write { t in _ = try t.removeAll(in: a) }
    let after = try environment.info()
    #expect(after.lastTransactionID == before.lastTransactionID + 1)
    #expect(after.freePages > before.freePages + 50)
    #expect(after.usedPages >= before.usedPages)
    #expect(after.pageSize == 4096)
    #expect(after.mapSize == Environment.Options.defaultMapSize)
    try environment.verify()
  }

  @Test func namesOfAForeignFileCanBeRead() throws {
    do { _ = try Environment.open(at: scratch(), databases: ["users", "items"]) }
    let unknown = try Environment.open(at: scratch(), databases: [], options: .init(mode: .readOnly))
    #expect(try unknown.databaseNames() == ["items", "users"])
    try unknown.close()
    let known = try Environment.open(at: scratch(), databases: ["items", "users"], options: .init(mode: .readOnly))
    try known.verify()
  }

  @Test(arguments: [false, true]) func copiesAreEnvironmentsOfTheirOwn(_ isCompact: Bool) throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    try Self.fill(environment, a, count: 3000)
    try environment.copy(to: scratch("copy"), compact: isCompact)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch("copy")) == ["data.mdb"])
    try environment.write { t in _ = try t.removeAll(in: a) }
    let (copy, b) = try Environment.make(at: scratch("copy"), Self.unsynced)
    try Self.check(copy, b, count: 3000)
    try copy.set("more", "k", in: b)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() == ["copy", "env"])
    #expect(code { try environment.copy(to: scratch("copy")) } == .invalidOption)
    #expect(code { try environment.copy(to: scratch("no/such")) } == .notFound)
    try environment.write { _ in
      #expect(code { try environment.copy(to: scratch("other"), compact: isCompact) } == .nestedWrite)
    }
    try environment.copy(to: scratch("later") + "//", compact: isCompact)
    #expect(FileManager.default.fileExists(atPath: scratch("later/data.mdb")))
    for path in ["", "~", "~/copy"] {
      #expect(code { try environment.copy(to: path, compact: isCompact) } == .invalidOption)
    }
  }

  @Test func compactMakesTheFileAsSmallAsItsContent() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    try Self.fill(environment, a, count: 20_000)
    let payload = 20_000 * (100 + 0.text.utf8.count)
    func size() throws -> Int {
      try FileManager.default.attributesOfItem(atPath: scratch("env/data.mdb"))[.size] as? Int ?? 0
    }
    #expect(try Double(size()) > 1.4 * Double(payload))
    try environment.compact()
    #expect(try Double(size()) < 1.15 * Double(payload))
    try Self.check(environment, a, count: 20_000)
    try environment.set("more", "k", in: a)
    try environment.compact()
    try environment.compact()
    #expect(try environment.text("k", in: a) == "more")
    let (same, _) = try Environment.make(at: scratch(), Self.unsynced)
    #expect(same === environment)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch()).sorted() == ["data.mdb", "lock.mdb"])
  }

  @Test func compactWithSeveralDatabasesKeepsThemApart() throws {
    let names = ["c", "a", "b"]
    let environment = try Environment.open(at: scratch(), databases: names, options: Self.unsynced)
    try environment.write { t in
      for name in names { try t.set(Array(name.utf8), forKey: "name", in: try environment.database(name)) }
    }
    try environment.compact()
    for name in names { #expect(try environment.text("name", in: environment.database(name)) == name) }
  }

  @Test func compactUnderReadersAndWriters() throws {
    let (environment, a) = try Environment.make(at: scratch(), Self.unsynced)
    try Self.fill(environment, a, count: 1000)
    try onThreads(4) { thread in
      for n in 0..<30 {
        switch thread {
        case 0: try environment.compact()
        case 1: try environment.set("\(n)", "k", in: a)
        default:
          let value = try environment.text(7.text, in: a)
          #expect(value?.utf8.count == 100)
        }
      }
    }
    try environment.verify()
    #expect(try environment.text("k", in: a) == "29")
  }

  @Test func compactFollowsAnotherProcessesGrowth() async throws {
    let (environment, a) = try Environment.make(at: scratch(), GrowthTests.small)
    let path = scratch()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let (environment, a) = try Environment.make(at: path, GrowthTests.small)
      try environment.write { t in
        for n in 0..<500 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
      }
    }
    try environment.compact()
    #expect(try environment.statistics(of: a).entries == 500)
  }

  @Test func compactNeedsTheFileForItself() async throws {
    let (environment, a) = try Environment.make(at: scratch(), .init(waitLimit: .milliseconds(10)))
    try environment.set("value", "k", in: a)
    let pin = Pinned.reader(environment)
    #expect(code { try environment.compact() } == .busy)
    try pin.release()
    let path = scratch()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let (environment, a) = try Environment.make(at: path)
      #expect(code { try environment.compact() } == .busy)
      #expect(try environment.text("k", in: a) == "value")
    }
    try environment.compact()
    #expect(try environment.text("k", in: a) == "value")
  }

  @Test func whatAKilledCompactionHasLeftIsRemovedByTheNextOpening() async throws {
    let (environment, a) = try Environment.make(at: scratch())
    try environment.set("value", "k", in: a)
    try environment.close()
    let left = Environment.workshopPath(in: scratch())
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
    for name in ["data.mdb", "lock.mdb"] { try Data(count: 100).write(to: URL(fileURLWithPath: "\(left)/\(name)")) }
    let (reopened, b) = try Environment.make(at: scratch())
    #expect(!FileManager.default.fileExists(atPath: left))
    #expect(try reopened.text("k", in: b) == "value")
  }
}

extension Int {
  /// Text that sorts as the number does.
  fileprivate var text: String { String("000000\(self)".suffix(7)) }
}
