import Foundation
import TestSupport
import Testing

@Suite struct CommandTests {
  private let folder = TemporaryDirectory()

  private func lines(_ arguments: String...) throws -> [String] {
    let command = try Tool.kvdump(arguments)
    #expect(command.status == 0 && command.errors.isEmpty, "\(arguments) \(command.errors)")
    return command.output.split(separator: "\n").map(String.init)
  }

  @Test func rangesAndLimits() throws {
    let many = Tool.fixture("env/many")
    func keys(_ arguments: String...) throws -> [String] {
      try Tool.kvdump(["cat", "--keys", "-F", "raw0", many] + arguments).output.split(separator: "\0").map(String.init)
    }
    #expect(try keys("--limit", "2") == ["key000000", "key000001"])
    #expect(try keys("--reverse", "--limit", "2", "--skip", "1") == ["key000998", "key000997"])
    #expect(try keys("--from", "key000998", "--to", "key000999") == ["key000998", "key000999"])
    #expect(try keys("--from", "key0009985") == ["key000999"])
    #expect(try keys("--reverse", "--to", "key0000015", "--limit", "1") == ["key000001"])
    #expect(try keys("--prefix", "key00099").count == 10)
    #expect(try keys("--prefix", "key00099", "--reverse").first == "key000999")
    #expect(try keys("--prefix", "none") == [] && keys("--prefix", "none", "--reverse") == [])
    #expect(try keys("--match", "*0?77").count == 10 && keys("--match", "k*77").count == 10)
    #expect(try lines("cat", "--count", many, "--prefix", "key0001") == ["100"])
  }

  @Test func integerKeysAreNumbers() throws {
    let path = Tool.fixture("env/dup")
    #expect(try lines("cat", "--keys", path, "intkey").last == #"{"db":"intkey","k":{"u64":1099511627776}}"#)
    #expect(try Tool.kvdump("get", path, "intkey", "256").output == "v256")
    #expect(try lines("cat", path, "intkey", "--from", "2", "--to", "256", "--count") == ["2"])
    #expect(try Tool.kvdump("get", path, "intkey", "3").status == 1)
  }

  @Test func outputIsSafeAndLossless() throws {
    let main = Tool.fixture("env/main")
    let table = try Tool.kvdump("cat", main, "-F", "table").output
    #expect(!table.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
    for line in try lines("cat", main) { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    #expect(
      try Tool.kvdump("cat", main, "--max-value", "3", "--prefix", "big").output.contains("\"cut\":true,\"n\":307200"))
    #expect(try Tool.shell("\"$0\" get \"$1\" big | wc -c", main).output == "307200\n")
  }

  @Test func valuesAreDecoded() throws {
    let target = "\(folder.path)/store"
    let text = """
      VERSION=3
      HEADER=END
       61
       7b2262223a5b312c747275655d7d
       62
       83a161c3a162cb3ff8000000000000a163c403010203
       63
       a26161f5616282f94000c11a5f5e1000
       64
       2a00000000000000
      DATA=END

      """
    let input = "\(folder.path)/input"
    try Data(text.utf8).write(to: URL(fileURLWithPath: input))
    #expect(try Tool.kvdump("load", "-f", input, target).status == 0)
    func decoded(_ key: String, _ form: String) throws -> String {
      try Tool.kvdump("get", target, key, "--decode", form).output.filter { !$0.isWhitespace }
    }
    #expect(try decoded("a", "json") == #"{"b":[1,true]}"#)
    #expect(try decoded("b", "msgpack") == #"{"a":true,"b":1.5,"c":{"hex":"010203"}}"#)
    #expect(try decoded("c", "cbor") == #"{"a":true,"b":[2.0,{"tag":1,"value":1600000000}]}"#)
    #expect(try decoded("d", "int") == "42" && decoded("d", "hex") == "2a00000000000000")
    for form in ["json", "msgpack", "cbor", "plist"] {
      #expect(try Tool.kvdump("get", target, "d", "--decode", form).status == 65, "\(form)")
    }
  }

  @Test func pagesAndReaders() throws {
    let pages = try lines("pages", Tool.fixture("env/dup"))
    #expect(
      pages.contains("11               duplicates  manydups")
        && pages.contains("24               leaf        free list"))
    #expect(try lines("page", Tool.fixture("env/dup"), "2").count == 3)
    #expect(try lines("page", Tool.fixture("env/dup"), "1")[1].contains("commit"))
    #expect(try Tool.kvdump("page", Tool.fixture("damaged/leaf5-ptr-outside"), "5").status == 65)
    #expect(try Tool.kvdump("page", Tool.fixture("env/dup"), "99").status == 65)
    #expect(try lines("readers", Tool.fixture("env/dup")) == ["no readers: there is no lock file"])
  }

  @Test func sizesAreCounted() throws {
    let output = try lines("stats", Tool.fixture("env/main"))
    #expect(output[0] == "main: 16 records" && output.contains { $0.contains("300.0 KiB  big") })
    #expect(
      try lines("stats", Tool.fixture("env/named"), "users", "--by-prefix", "k").contains { $0.hasSuffix("11 B  2  k") }
    )
  }

  @Test(arguments: ["env/dup", "env-1.0/named", "env/psize16384", "env/main"])
  func copiesHoldTheSame(_ name: String) throws {
    for options in [[], ["--compact"]] {
      let target = "\(folder.path)/copy\(options.count)"
      #expect(try Tool.kvdump(["copy", "-q"] + options + [Tool.fixture(name), target]).status == 0)
      #expect(try Tool.kvdump("diff", Tool.fixture(name), target).status == 0)
      #expect(try Tool.kvdump("verify", "--strict", target).status == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["data.mdb"])
    }
    #expect(try Tool.kvdump("copy", Tool.fixture(name), folder.path).status == 73)
    // What LMDB 0.9 reads, and counts the same.
    let stat = try Command("/usr/bin/mdb_stat", ["-a", "\(folder.path)/copy1"])
    #expect(stat.status == 0)
  }

  @Test func aFileThatWasCutOffIsNotCalledIntact() throws {
    let whole = try Tool.kvdump("info", Tool.fixture("env/many"))
    #expect(whole.status == 0 && !whole.output.contains("cut off"))
    var data = try Data(contentsOf: URL(fileURLWithPath: Tool.fixture("env/dup/data.mdb")))
    data.removeLast(3 * 4096)
    try data.write(to: URL(fileURLWithPath: "\(folder.path)/cut.mdb"))
    let cut = try Tool.kvdump("info", "\(folder.path)/cut.mdb")
    #expect(
      cut.output.contains("lacks its last 3 pages, since the file has been cut off") && !cut.output.contains("intact"))
  }

  @Test func aCopyOfWhatWasCutOffIsRefused() throws {
    let target = "\(folder.path)/copy"
    let copy = try Tool.kvdump("copy", Tool.fixture("damaged/trunc-half-page"), target)
    #expect(
      copy.status == 65 && copy.errors.contains("commit 1 lacks 5 pages") && copy.errors.contains("kvdump recover"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func countsThatCannotBeAreShown() throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: Tool.fixture("env/many/data.mdb")))
    // Those of the main database in both meta pages: branch pages, leaf pages, pages of values, records.
    for page in 0...1 {
      let start = page * 4096 + 16 + 24 + 48 + 8
      data.replaceSubrange(start..<start + 32, with: [UInt8](repeating: 0x7F, count: 32))
    }
    let path = "\(folder.path)/counts.mdb"
    try data.write(to: URL(fileURLWithPath: path))
    for command in ["info", "ls", "stats", "verify", "cat"] {
      #expect([0, 1, 65].contains(try Tool.kvdump(command, path).status), "\(command)")
    }
    #expect([0, 65].contains(try Tool.kvdump("report", path, "\(folder.path)/out.html").status))
    #expect(try Tool.kvdump("recover", path, "-o", "\(folder.path)/new").status == 1)
  }

  @Test func differencesAreShown() throws {
    let (a, b) = (Tool.fixture("env/named"), Tool.fixture("env/mixed"))
    let text = try Tool.kvdump("diff", a, b)
    #expect(
      text.status == 1 && text.output.contains("- users\n") && text.output.contains("+ main  plain  record in main\n"))
    #expect(try Tool.kvdump("diff", a, b, "--brief").output == "they differ\n")
    #expect(try Tool.kvdump("diff", a, a).output.isEmpty)
  }
}
