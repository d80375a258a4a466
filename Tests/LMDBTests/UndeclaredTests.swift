import Foundation
import TestSupport
import Testing

@testable import LMDB

/// Files that hold more than what was declared.
@Suite struct UndeclaredTests {
  let scratch = TemporaryDirectory()
  static let hasLoader = FileManager.default.isExecutableFile(atPath: "/usr/bin/mdb_load")

  /// A file with the databases `a`, `b` and `c`, each with keys of its own, opened with `a` alone.
  private func make() throws -> (Environment, Database) {
    do {
      let environment = try Environment.open(at: scratch(), databases: ["c", "a", "b"])
      try environment.write { t in
        for name in ["a", "b", "c"] {
          let database = try environment.database(name)
          for n in 0..<500 { try t.set(Array(name.utf8), forKey: "\(name) \(n)", in: database) }
        }
      }
    }
    return try Environment.make(at: scratch())
  }

  private func check(_ path: String) throws {
    let environment = try Environment.open(at: path, databases: ["a", "b", "c"])
    for name in ["a", "b", "c"] {
      let database = try environment.database(name)
      #expect(try environment.statistics(of: database).entries == 500)
      #expect(try environment.text("\(name) 499", in: database) == name)
    }
    try environment.verify()
  }

  @Test func compactKeepsThem() throws {
    let (environment, a) = try make()
    #expect(code { try environment.database("b") } == .unknownDatabase)
    try environment.compact()
    try environment.compact()
    #expect(try environment.text("a 499", in: a) == "a")
    #expect(try environment.databaseNames() == ["a", "b", "c"])
    try environment.verify()
    try environment.close()
    try check(scratch())
  }

  @Test func aCompactCopyHasThem() throws {
    let (environment, _) = try make()
    try environment.copy(to: scratch("copy"), compact: true)
    try check(scratch("copy"))
  }

  @Test func readersFindThem() throws {
    do { _ = try make() }
    let environment = try Environment.make(at: scratch(), .init(mode: .readOnly)).0
    try environment.copy(to: scratch("copy"), compact: true)
    try environment.verify()
    try environment.close()
    try check(scratch("copy"))
  }

  /// There are handles for 32; a file of LMDB's own tools may have more.
  @Test func whatHasNoHandleIsNotLost() throws {
    for part in 0..<2 {
      do { _ = try Environment.open(at: scratch(), databases: (0..<20).map { "\(part * 20 + $0)" }) }
    }
    let environment = try Environment.open(at: scratch(), databases: ["39", "0"])
    #expect(try environment.databaseNames().count == 40)
    #expect(code { try environment.compact() } == .invalidOption)
    #expect(code { try environment.copy(to: scratch("copy"), compact: true) } == .invalidOption)
    try environment.copy(to: scratch("copy"))
    let copy = try Environment.open(at: scratch("copy"), databases: [])
    #expect(try copy.databaseNames().count == 40)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() == ["copy", "env"])
  }

  @Test(.enabled(if: hasLoader, "mdb_load (lmdb-utils) is needed"))
  func whatOthersHaveMadeIsNotLost() throws {
    let (environment, _) = try make()
    try environment.close()
    // A database that sorts otherwise, and a record beside the databases.
    try load("type=btree", "dupsort=1", name: "strange", key: "k")
    try load("type=btree", name: nil, key: "record")
    let (again, _) = try Environment.make(at: scratch())
    let failure = #expect(throws: StoreError.self) { try again.compact() }
    #expect(failure?.code == .invalidOption)
    #expect(failure?.message.contains("record, strange") == true, "\(failure as Any)")
    try again.close()
    // To declare what sorts otherwise is an error.
    let refused = #expect(throws: StoreError.self) {
      try Environment.open(at: scratch(), databases: ["strange"])
    }
    #expect(refused?.code == .invalidOption && refused?.message.contains("strange") == true)
    #expect(code { try Environment.open(at: scratch(), databases: ["record"]) } == .invalidOption)
  }

  private func load(_ header: String..., name: String?, key: String) throws {
    func hex(_ text: String) -> String { text.utf8.map { String(format: "%02x", $0) }.joined() }
    let dump =
      ["VERSION=3", "format=bytevalue"] + header
      + ["HEADER=END", " \(hex(key))", " \(hex("value"))", "DATA=END", ""]
    try dump.joined(separator: "\n").write(toFile: scratch("dump"), atomically: true, encoding: .utf8)
    let names = name.map { ["-s", $0] } ?? []
    let command = try Command("/usr/bin/mdb_load", ["-f", scratch("dump")] + names + [scratch()])
    #expect(command.status == 0, "\(command.errors)")
  }
}
