import Foundation
import LMDBFile
import TestSupport
import Testing

@Suite struct LayoutTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let wordSize: Int
    let isBigEndian: Bool
    let version: Int
    let pageSize: Int
    var testDescription: String { "\(wordSize * 8)-bit \(isBigEndian ? "big" : "little"), v\(version), \(pageSize)" }
    var builder: FileBuilder {
      FileBuilder(wordSize: wordSize, isBigEndian: isBigEndian, version: version, pageSize: pageSize)
    }
  }

  static let cases = [4, 8].flatMap { wordSize in
    [false, true].flatMap { isBigEndian in
      [(1, 256), (1, 4096), (1, 32768), (2, 512), (2, 4096), (3, 256), (3, 16384), (3, 65536)].map {
        Case(wordSize: wordSize, isBigEndian: isBigEndian, version: $0.0, pageSize: $0.1)
      }
    }
  }

  private static func text(_ index: Int) -> [UInt8] { Array("key\(String(1000 + index))".utf8) }

  /// Branches three levels deep, values on pages of their own, and each kind of duplicates.
  static func content(_ builder: inout FileBuilder) -> (main: FileBuilder.Counts, expected: [String: [[[UInt8]]]]) {
    var plain: [(key: [UInt8], value: FileBuilder.Value)] = (0..<40).map { (text($0), .bytes(text($0 * 7))) }
    plain[5].value = .bytes([])
    plain[9].value = .bytes((0..<3 * builder.pageSize).map { UInt8(truncatingIfNeeded: $0) })
    let small = (0..<5).map { [UInt8](repeating: UInt8($0), count: $0) }
    let fixed = (0..<30).map { [7, UInt8($0), 1, 2] }
    let duplicates: [(key: [UInt8], value: FileBuilder.Value)] = [
      ([1], .duplicates(small)), ([2], .bytes([9])),
      ([3], .tree((0..<30).map { text($0) }, perPage: 3, isPacked: false)), ([4], .bytes([])),
    ]
    let packed: [(key: [UInt8], value: FileBuilder.Value)] = [
      ([1], .packed(Array(fixed[..<3]))), ([2], .tree(fixed, perPage: 7, isPacked: true)),
    ]
    let trees = [
      builder.named("a", builder.addTree(plain, perLeaf: 3), flags: 0),
      builder.named("b", builder.addTree(duplicates, flags: 4, perLeaf: 1), flags: 4),
      builder.named("c", builder.addTree(packed, flags: 0x14, perLeaf: 1), flags: 0x14),
      builder.named("d", FileBuilder.Counts(), flags: 0),
    ]
    func flat(_ records: [(key: [UInt8], value: FileBuilder.Value)]) -> [[[UInt8]]] {
      records.flatMap { key, value in
        switch value {
        case .bytes(let bytes): [[key, bytes]]
        case .duplicates(let values), .packed(let values), .tree(let values, _, _): values.map { [key, $0] }
        }
      }
    }
    return (builder.addMain(trees), ["a": flat(plain), "b": flat(duplicates), "c": flat(packed), "d": []])
  }

  static func records(_ snapshot: Snapshot, _ tree: Tree, reverse: Bool = false) throws -> [[[UInt8]]] {
    var cursor = try RecordCursor(snapshot, tree)
    var found: [[[UInt8]]] = []
    while try reverse ? cursor.previous() : cursor.next() {
      let key = cursor.key.array
      found.append([key, try cursor.value()])
    }
    if !reverse { try cursor.finish() }
    return found
  }

  @Test(arguments: cases) func isRead(_ layout: Case) throws {
    var builder = layout.builder
    let (main, expected) = Self.content(&builder)
    let file = try DataFile(ByteSource(builder.file(main: main)))
    #expect(file.layout.wordSize == layout.wordSize && file.layout.isBigEndian == layout.isBigEndian)
    #expect(file.layout.version == layout.version && file.layout.pageSize == layout.pageSize)
    let snapshot = try Snapshot(file)
    #expect(try snapshot.databases().map(\.title) == ["a", "b", "c", "d"])
    for (name, records) in expected {
      let tree = try snapshot.database(Array(name.utf8))
      #expect(try Self.records(snapshot, tree) == records, "\(name)")
      #expect(try Self.records(snapshot, tree, reverse: true) == records.reversed(), "\(name)")
    }
    var verifier = Verifier(snapshot)
    #expect(try verifier.run().problems == [])
  }

  @Test(arguments: cases.filter { $0.pageSize <= 4096 }) func isSought(_ layout: Case) throws {
    var builder = layout.builder
    let (main, expected) = Self.content(&builder)
    let snapshot = try Snapshot(try DataFile(ByteSource(builder.file(main: main))))
    let tree = try snapshot.database(Array("a".utf8))
    let keys = (expected["a"] ?? []).map { $0[0] }
    for (index, key) in keys.enumerated() {
      var cursor = try RecordCursor(snapshot, tree)
      #expect(try cursor.seek(to: key) && cursor.key.array == key)
      let above = try cursor.seek(to: key + [0])
      #expect(above == (index + 1 < keys.count) && (!above || cursor.key.array == keys[index + 1]))
      #expect(try cursor.seek(toLastUpTo: key + [0]) && cursor.key.array == key)
    }
  }

  /// What the builder makes is what LMDB itself reads.
  @Test func theBuilderIsRight() throws {
    var builder = FileBuilder(wordSize: 8, isBigEndian: false, version: 1, pageSize: 4096)
    let (main, expected) = Self.content(&builder)
    let folder = TemporaryDirectory()
    try Data(builder.file(main: main)).write(to: URL(fileURLWithPath: "\(folder.path)/data.mdb"))
    for (name, records) in expected {
      let dump = try Command("/usr/bin/mdb_dump", ["-s", name, folder.path])
      let lines = dump.output.split(separator: "\n").filter { $0.hasPrefix(" ") }
      let hex = records.flatMap { $0 }.map { " " + $0.map { String(format: "%02x", $0) }.joined() }
      #expect(dump.status == 0 && lines.map(String.init) == hex, "\(name)")
    }
  }
}
