import Foundation
import Holdfast
import TestSupport
import Testing

@Suite struct RecoverTests {
  private let folder = TemporaryDirectory()
  private var target: String { "\(folder.path)/out" }

  @Test(arguments: [
    ("branch-loop", 1, 1000), ("entries-wrong", 0, 1000), ("leaf5-keysize-huge", 1, 999), ("leaf5-ptr-outside", 1, 999),
    ("leaf5-unsorted", 0, 1000), ("leaf5-zero", 1, 856), ("mapsize-huge", 0, 1000), ("meta0-torn", 0, 1000),
    ("meta1-zero", 1, 1000), ("metas-zero", 1, 1000), ("psize-3000", 1, 1000), ("trailing-garbage", 0, 1000),
    ("trunc-half-page", 1, 289),
  ]) func savesWhatIsLeft(_ name: String, _ status: Int32, _ records: Int) throws {
    let source = Tool.fixture("damaged/\(name)")
    let before = try Tool.listing(source)
    let command = try Tool.kvdump("recover", source, "-o", target)
    #expect(command.status == status && command.errors.isEmpty, "\(command.output) \(command.errors)")
    #expect(command.output.contains("recovered \(records) records"), "\(command.output)")
    #expect(try Tool.kvdump("verify", "--strict", target).status == 0)
    #expect(try Tool.kvdump("cat", "--count", target).output == "\(records)\n")
    // All of them are right.
    let difference = try Tool.kvdump("diff", Tool.fixture("env/many"), target).output.split(separator: "\n")
    let lost = difference.filter { $0.hasPrefix("- ") }.count
    let known: Set = ["entries-wrong", "leaf5-unsorted"]
    if !known.contains(name) { #expect(lost == 1000 - records && difference.count == lost) }
    #expect(try Tool.listing(source) == before)
  }

  @Test func whatIsNoLMDBFileIsNotRecovered() throws {
    for (name, status) in [("short100", Int32(65)), ("version999", 69)] {
      let command = try Tool.kvdump("recover", Tool.fixture("damaged/\(name)"), "-o", target)
      #expect(command.status == status && !FileManager.default.fileExists(atPath: target))
    }
    try FileManager.default.createDirectory(atPath: "\(folder.path)/d/data.mdb", withIntermediateDirectories: true)
    #expect(try Tool.kvdump("recover", "\(folder.path)/d", "-o", target).status == 69)
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    #expect(try Tool.kvdump("recover", Tool.fixture("env/many"), "-o", target).status == 73)
  }

  @Test(arguments: ["dup", "named", "main", "maindup"]) func aSoundFileComesOutWhole(_ name: String) throws {
    let command = try Tool.kvdump("recover", Tool.fixture("env/\(name)"), "-o", target)
    #expect(command.status == 0)
    #expect(try Tool.kvdump("diff", Tool.fixture("env/\(name)"), target).status == 0)
  }

  /// The list of free pages has leaves too, and no records.
  @Test(arguments: ["state.record", "outbox.entry"]) func theListOfFreePagesIsNotRecovered(_ name: String) throws {
    let store = "\(folder.path)/store"
    do {
      let store = try Store.open(at: store)
      for round in 0..<20 {
        try store.write { t in
          for index in 0..<40 {
            try store.state.update(StateKey("post:\(round * 40 + index)"), ["n": .int(Int64(index))], in: &t)
            try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l\(index)", payload: [1, 2, 3]), in: &t)
          }
        }
      }
    }
    let pages = try Tool.kvdump("pages", store).output.split(separator: "\n")
    #expect(pages.contains { $0.hasSuffix("free list") })
    let line = try #require(pages.first { $0.contains("branch") && $0.hasSuffix(" \(name)") })
    let page = try #require(Int(line.prefix { $0.isNumber }))
    let original = "\(folder.path)/original.mdb"
    try FileManager.default.copyItem(atPath: "\(store)/data.mdb", toPath: original)
    var data = try Data(contentsOf: URL(fileURLWithPath: "\(store)/data.mdb"))
    data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xAA, count: 4096))
    for metas in [false, true] {
      // Also without a head, where nothing says what the list is.
      if metas { data.replaceSubrange(0..<8192, with: Data(count: 8192)) }
      try data.write(to: URL(fileURLWithPath: "\(store)/data.mdb"))
      let target = "\(folder.path)/out\(metas)"
      #expect(try Tool.kvdump("recover", store, "-o", target).status == 1)
      let added = try Tool.kvdump("diff", original, target).output.split(separator: "\n").filter { $0.hasPrefix("+ ") }
      let orphans = try Tool.kvdump("cat", "--keys", "--encoding", "hex", target, "kvdump.recovered")
      if metas {
        // What is on leaves that nothing leads to may be old; but no key is the number of a commit, with its low byte first.
        #expect(!orphans.output.contains(#/"[0-9a-f]{2,4}0{12,}"/#) && !added.isEmpty)
      } else {
        #expect(added.isEmpty && orphans.status == 66, "\(added.prefix(5))")
      }
    }
  }

  /// Values under one key that are not the same are all kept, though they come from leaves that nothing leads to.
  @Test func duplicatesFromElsewhereAreAllKept() throws {
    let source = "\(folder.path)/dup"
    let text = (0..<2000).map { " k\(100 + $0 / 4)\n \($0)\n" }.joined()
    let input = "\(folder.path)/text"
    try Data("format=print\ndupsort=1\ndatabase=d\nHEADER=END\n\(text)DATA=END\n".utf8)
      .write(to: URL(fileURLWithPath: input))
    #expect(try Tool.kvdump("load", "-q", "-f", input, source).status == 0)
    let pages = try Tool.kvdump("pages", source).output.split(separator: "\n")
    let branch = try #require(pages.first { $0.contains("branch") && $0.hasSuffix(" d") })
    let page = try #require(Int(branch.prefix { $0.isNumber }))
    var data = try Data(contentsOf: URL(fileURLWithPath: "\(source)/data.mdb"))
    data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
    try data.write(to: URL(fileURLWithPath: "\(source)/data.mdb"))
    #expect(try Tool.kvdump("recover", source, "-o", target).status == 1)
    #expect(try Tool.kvdump("cat", "--count", target, "d").output == "2000\n")
  }

  /// Without a head, databases are found by the records that describe them.
  @Test(arguments: ["named", "dup"]) func databasesAreFoundWithoutAHead(_ name: String) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: Tool.fixture("env/\(name)/data.mdb")))
    bytes.replaceSubrange(0..<8192, with: Data(count: 8192))
    try bytes.write(to: URL(fileURLWithPath: "\(folder.path)/headless.mdb"))
    let command = try Tool.kvdump("recover", "\(folder.path)/headless.mdb", "-o", target)
    #expect(command.status == 1)
    let difference = try Tool.kvdump("diff", Tool.fixture("env/\(name)"), target).output.split(separator: "\n")
    #expect(difference.allSatisfy { $0.hasPrefix("+ ") }, "\(difference)")
  }
}
