import Foundation
import TestSupport
import Testing

/// `load` and `import`: all or nothing, and the same databases as before.
@Suite struct LoadTests {
  private let folder = TemporaryDirectory()

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  private func write(_ text: String, to name: String = "input") throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  private static let environments = ["allflags", "dup", "main", "maindup", "many", "mixed", "named", "empty0"]

  @Test(arguments: environments) func aDumpComesBackTheSame(_ name: String) throws {
    for options in [[], ["-p"]] {
      let dump = try Tool.kvdump(["dump", "--all"] + options + [Tool.fixture("env/\(name)")]).output
      let target = path("to\(options.count)")
      let load = try Tool.kvdump("load", "-q", "-f", try write(dump), target)
      #expect(load.status == 0 && load.errors.isEmpty && load.output.isEmpty, "\(load.errors)")
      #expect(try Tool.kvdump(["dump", "--all"] + options + [target]).output == dump)
      #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["data.mdb"])
      #expect(try Tool.kvdump("verify", "--strict", target).status == 0)
      #expect(try Tool.kvdump("diff", Tool.fixture("env/\(name)"), target).status == 0)
    }
  }

  /// mdb_load 0.9.24 reads what we write, and we read what mdb_dump writes. The empty values of `dup` are left to us.
  @Test(arguments: ["allflags", "main", "maindup", "many", "named"]) func mdb_loadReadsIt(_ name: String) throws {
    let target = path("theirs")
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    let source = Tool.fixture("env/\(name)")
    let script = "\"$0\" dump --all \"$1\" | mdb_load \"$2\""
    let command = try Tool.shell(script, source, target)
    #expect(command.status == 0, "\(command.errors)")
    #expect(try Tool.kvdump("diff", source, target).status == 0)
    let back = path("ours")
    let option = ["allflags", "named"].contains(name) ? "-a" : ""
    #expect(try Tool.shell("mdb_dump \(option) \"$1\" | \"$0\" load -q \"$2\"", target, back).status == 0)
    #expect(try Tool.kvdump("diff", source, back).status == 0)
  }

  static let header = "VERSION=3\nformat=bytevalue\ntype=btree\nHEADER=END\n"

  private static let longKey = String(repeating: "61", count: 512)

  private static let malformed: [(String, String)] = [
    ("", "line 1: the input is empty"), ("VERSION=3\n", "line 2: the input ends in a header"),
    ("VERSION=4\n", "line 1: version 4"), ("VERSION=3\nnonsense\n", "line 2: `nonsense`"),
    ("format=json\n", "line 1: the format `json` is not known"), ("type=hash\n", "line 1: the type `hash`"),
    ("mapsize=abc\n", "line 1: `abc` is no size"), ("dupsort=2\n", "line 1: `dupsort` is 0 or 1"),
    (header, "line 5: the input ends before DATA=END"), ("\(header) 61\n", "line 6: the input ends after a key"),
    ("\(header) 61\n 62\n", "line 7: the input ends before DATA=END"),
    ("\(header) 61\n 62\nDATA=EN", "line 7: the input ends in this line"),
    ("\(header) 61\n 62\nDATA=EN\n", "line 7: a record starts with a space"),
    ("\(header)61\n 62\nDATA=END\n", "line 5: a record starts with a space"),
    ("\(header) 6\n 62\nDATA=END\n", "line 5: it has an odd number of digits"),
    ("\(header) 6x\n 62\nDATA=END\n", "line 5: `6x` at column 2"), ("\(header) 61\n 6x\nDATA=END\n", "line 6: `6x`"),
    ("\(header) 61\nDATA=END\n", "line 6: the last key has no value"),
    ("\(header) \n 62\nDATA=END\n", "line 6: A key of 0 bytes"),
    ("\(header) \(longKey)\n 62\nDATA=END\n", "line 6: A key of 512 bytes"),
    ("format=print\nHEADER=END\n a\\\n b\nDATA=END\n", "line 3: a backslash at the end"),
    ("format=print\nHEADER=END\n a\\4\n b\nDATA=END\n", "line 3: a backslash at the end"),
    ("integerkey=1\nHEADER=END\n 616263\n 62\nDATA=END\n", "a key of 3 bytes in a database of integer keys"),
    (
      "dupsort=1\ndupfixed=1\nHEADER=END\n 61\n 62\n 61\n 6263\nDATA=END\n",
      "a value of 2 bytes, where the others have 1"
    ),
  ]

  @Test(arguments: malformed) func malformedTextIsRefused(_ text: String, _ message: String) throws {
    let input = try write(text)
    for (target, prepared) in [(path("new"), false), (path("old"), true)] {
      if prepared {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        try? FileManager.default.copyItem(atPath: Tool.fixture("env/many/data.mdb"), toPath: "\(target)/data.mdb")
      }
      let command = try Tool.kvdump("load", "-f", input, target)
      #expect(command.status == 65 && command.errors.contains(message), "\(command.errors)")
      #expect(command.errors.contains("\(input), line ") && command.errors.split(separator: "\n").count == 1)
      // Nothing is left behind, not even a directory.
      #expect(FileManager.default.fileExists(atPath: target) == prepared)
      if prepared { #expect(try Tool.kvdump("diff", Tool.fixture("env/many"), target).status == 0) }
    }
  }

  @Test func formatsDoNotStickToTheNextDatabase() throws {
    let text = """
      VERSION=3
      format=print
      database=a
      HEADER=END
       kk
       \\\\b\\41
      DATA=END
      VERSION=3
      dupsort=0
      HEADER=END
       6b
       76
      DATA=END

      """
    #expect(try Tool.kvdump("load", "-f", try write(text), path("to")).status == 0)
    #expect(try Tool.kvdump("get", path("to"), "k").output == "v")
    #expect(try Tool.kvdump("get", path("to"), "a", "kk").output == "\\bA")
  }

  @Test func anExistingFileKeepsItsOthers() throws {
    let target = path("to")
    #expect(try Tool.kvdump("load", "-f", Tool.fixture("dumps/many.main"), target).status == 0)
    let text =
      "format=print\nHEADER=END\n key000001\n new\n zz\n \(String(repeating: "v", count: 3_000_000))\nDATA=END\n"
    let input = try write(text)
    let kept = try Tool.kvdump("load", "-N", "-f", input, target)
    #expect(kept.errors == "kvdump: 2 records, of which 1 met one that stays, loaded\n")
    #expect(try Tool.kvdump("get", target, "key000001").output != "new")
    // From a pipe, and larger than the map.
    #expect(try Tool.shell("\"$0\" load \"$1\" < \"$2\"", target, input).status == 0)
    #expect(try Tool.kvdump("get", target, "key000001").output == "new")
    #expect(try Tool.kvdump("get", target, "zz").output.count == 3_000_000)
    #expect(try Tool.kvdump("cat", "--count", target).output == "1001\n")
    #expect(try Tool.kvdump("verify", target).status == 0)
  }

  @Test func plainTextAndSingleFiles() throws {
    let input = try write("a\n1\nb\\5c\n2\n")
    #expect(try Tool.kvdump("load", "-T", "-n", "-f", input, path("one.mdb")).status == 0)
    #expect(try Tool.kvdump("cat", path("one.mdb"), "-F", "csv").output.contains(",b\\,utf8,2,utf8"))
    #expect(!FileManager.default.fileExists(atPath: path("one.mdb-lock")))
    #expect(try Tool.kvdump("load", "-T", "-s", "x", "-f", input, path("two")).status == 0)
    #expect(try Tool.kvdump("dump", "-l", path("two")).output == "x\n")
  }

  @Test func theOrderOfTheTextCanBeKept() throws {
    let text = "format=print\ndupsort=1\nHEADER=END\n b\n 2\n b\n 1\n a\n 1\nDATA=END\n"
    let input = try write(text)
    #expect(try Tool.kvdump("load", "-a", "-f", input, path("to")).status == 0)
    let dump = try Tool.kvdump("dump", "-p", "--ignore-order", path("to"))
    #expect(dump.output.hasSuffix("HEADER=END\n b\n 2\n b\n 1\n a\n 1\nDATA=END\n"))
    #expect(try Tool.kvdump("load", "-a", "-N", "-f", input, path("to")).status == 64)
  }

  /// What a text says twice is one record, and is counted.
  @Test func keysThatComeTwiceAreCounted() throws {
    let input = try write("format=print\nHEADER=END\n a\n 1\n a\n 2\n b\n 3\nDATA=END\n")
    let load = try Tool.kvdump("load", "-f", input, path("to"))
    #expect(load.errors == "kvdump: 3 records, of which 1 took the place of another or were the same, loaded\n")
    #expect(try Tool.kvdump("get", path("to"), "a").output == "2")
    #expect(try Tool.kvdump("load", "-N", "-f", input, path("kept")).errors.contains("of which 1 met one that stays"))
    #expect(try Tool.kvdump("get", path("kept"), "a").output == "1")
    let json = try write("{\"k\":\"a\",\"v\":\"1\"}\n{\"k\":\"a\",\"v\":\"2\"}\n", to: "json")
    #expect(try Tool.kvdump("import", "-f", json, path("json-to")).errors.contains("2 records, of which 1 took"))
  }

  /// A value is one more under its key, also with -N; only the same one is not.
  @Test func duplicatesAreNotTakenForTheSame() throws {
    let input = try write("format=print\ndupsort=1\nHEADER=END\n a\n 1\n a\n 2\n a\n 1\nDATA=END\n")
    for option in ["-N", "-Q"] {
      let target = path("to\(option)")
      let load = try Tool.kvdump("load", option, "-f", input, target)
      #expect(load.status == 0 && load.errors.contains("3 records, of which 1 "), "\(load.errors)")
      #expect(try Tool.kvdump("cat", "--count", target).output == "2\n")
    }
  }

  @Test func endsOfLinesThatWereChangedAreNamed() throws {
    let text = "VERSION=3\r\nformat=print\r\nHEADER=END\r\n a\r\n 1\r\nDATA=END\r\n"
    let input = try write(text)
    let load = try Tool.kvdump("load", "-f", input, path("to"))
    #expect(
      load.status == 65 && load.errors.contains("line 4: it ends in CR LF") && load.errors.contains("tr -d '\\r'"))
    #expect(try Tool.shell("tr -d '\\r' < \"$1\" | \"$0\" load -q \"$2\"", input, path("to")).status == 0)
    // JSON does not mind.
    let export = try Tool.kvdump("export", Tool.fixture("env/named")).output.replacing("\n", with: "\r\n")
    #expect(try Tool.kvdump("import", "-q", "-f", try write(export, to: "json"), path("json-to")).status == 0)
    #expect(try Tool.kvdump("diff", Tool.fixture("env/named"), path("json-to")).status == 0)
  }

  @Test func aLineHasALimit() throws {
    let long = String(repeating: "61", count: 600_000)
    let input = try write("HEADER=END\n".replacing("HEADER", with: "VERSION=3\nHEADER") + " 6b\n \(long)\nDATA=END\n")
    for extra in [[], ["--dry-run"]] {
      let load = try Tool.kvdump(["load", "--max-line", "1", "-f", input, path("to")] + extra)
      #expect(load.status == 65 && load.errors.contains("line 4: it is longer than 1 MiB"), "\(load.errors)")
      #expect(load.errors.contains("--max-line"))
    }
    #expect(try Tool.kvdump("load", "-q", "--max-line", "2", "-f", input, path("to")).status == 0)
    #expect(try Tool.kvdump("get", path("to"), "k").output.count == 600_000)
    let json = try write("{\"k\":\"\(long)", to: "json")
    let imported = try Tool.kvdump("import", "--max-line", "1", "-f", json, path("json-to"))
    #expect(imported.status == 65 && imported.errors.contains("line 1: it is longer than 1 MiB"), "\(imported.errors)")
    #expect(try Tool.kvdump("load", "--max-line", "0", "-f", input, path("to")).status == 64)
  }

  @Test func aTextCanBeCheckedOnly() throws {
    #expect(try Tool.kvdump("load", "--dry-run", "-f", Tool.fixture("dumps/dup.a"), path("to")).status == 0)
    #expect(!FileManager.default.fileExists(atPath: path("to")))
  }

  // MARK: export and import

  @Test(arguments: environments + ["nlname"]) func anExportComesBackTheSame(_ name: String) throws {
    let source = Tool.fixture("env/\(name)")
    let export = try Tool.kvdump("export", source)
    #expect(export.status == 0)
    #expect(try Tool.kvdump("import", "-q", "-f", try write(export.output), path("to")).status == 0)
    #expect(try Tool.kvdump("diff", source, path("to")).status == 0)
    #expect(try Tool.kvdump("export", path("to")).output == export.output)
    for line in export.output.split(separator: "\n") {
      #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }
  }

  @Test func csvComesBackTheSame() throws {
    let csv = try Tool.kvdump("export", "-F", "csv", Tool.fixture("env/main")).output
    #expect(try Tool.kvdump("import", "-F", "csv", "-f", try write(csv), path("to")).status == 0)
    #expect(try Tool.kvdump("diff", Tool.fixture("env/main"), path("to")).status == 0)
  }

  @Test func anExportThatWasCutOrChangedIsRefused() throws {
    let lines = try Tool.kvdump("export", Tool.fixture("env/named")).output.split(separator: "\n").map(String.init)
    let texts = [
      lines.dropLast().joined(separator: "\n"), (lines[..<3] + lines[4...]).joined(separator: "\n"),
      lines.joined(separator: "\n").replacing("users", with: "uzers"),
      lines.dropLast().joined(separator: "\n") + "\n{\"db\"",
      "{\"db\":null,\"k\":7,\"v\":\"\"}", "", "{\"db\":null,\"k\":{\"b64\":\"=\"},\"v\":\"\"}",
    ]
    for text in texts {
      let command = try Tool.kvdump("import", "-f", try write(text + "\n"), path("to"))
      #expect(
        command.status == 65 && command.errors.contains("line ") && command.errors.contains("nothing was imported"))
      #expect(!FileManager.default.fileExists(atPath: path("to")))
    }
  }
}
