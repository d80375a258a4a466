import Foundation
import TestSupport
import Testing

/// Where the tools of LMDB end with a signal, or with 0 although records are lost: here each ends with a code of its own
/// and one sentence.
@Suite struct FailureTableTests {
  private let folder = TemporaryDirectory()

  /// What is done to a sound file of 4 KiB pages, whose page 5 is a leaf with keys; and the page that is to be named.
  private static let damage: [(name: String, page: Int?, change: @Sendable (inout Data) -> Void)] = [
    ("the file is cut off before a page", 5, { $0.removeLast($0.count - 5 * 4096) }),
    ("the file is cut off in a page", nil, { $0.removeLast(2048) }),
    ("a page is zeros", 5, { data in put([UInt8](repeating: 0, count: 4096), 5, 0, &data) }),
    ("a leaf says it is a branch", 5, { data in put([1, 0], 5, 10, &data) }),
    ("a leaf says it is part of a value", 5, { data in put([4, 0], 5, 10, &data) }),
    (
      "a page is random", 5,
      { data in put((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 3) }, 5, 0, &data) }
    ),
    (
      "a page has random nodes", 5,
      { data in put((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 91) }, 5, 16, &data) }
    ),
    ("keys are not in order", 5, { data in swapFirstPointers(on: 5, &data) }),
    ("a page has the number of another", 5, { data in put([6], 5, 0, &data) }),
    ("a page claims fewer records", nil, { data in put([data[5 * 4096 + 12] - 2], 5, 12, &data) }),
    ("a page claims more records", nil, { data in put([data[5 * 4096 + 12] + 2], 5, 12, &data) }),
  ]

  private static func put(_ bytes: [UInt8], _ page: Int, _ offset: Int, _ data: inout Data) {
    data.replaceSubrange(page * 4096 + offset..<page * 4096 + offset + bytes.count, with: bytes)
  }

  private static func swapFirstPointers(on page: Int, _ data: inout Data) {
    let start = page * 4096 + 16
    let bytes = Array(data[start..<start + 4])
    data.replaceSubrange(start..<start + 4, with: bytes[2...] + bytes[..<2])
  }

  @Test(arguments: damage.indices) func damageIsASentence(_ index: Int) throws {
    let (name, page, change) = Self.damage[index]
    var data = try Data(contentsOf: URL(fileURLWithPath: Tool.fixture("env/many/data.mdb")))
    change(&data)
    let path = "\(folder.path)/data.mdb"
    try data.write(to: URL(fileURLWithPath: path))
    let commands = [
      ["dump"], ["dump", "--all", "-p"], ["dump", "-s", "none"], ["cat", "-F", "csv"], ["cat", "--keys"], ["export"],
    ]
    for arguments in commands where arguments != ["dump", "-s", "none"] {
      let command = try Tool.kvdump([arguments[0], path] + arguments.dropFirst())
      let lines = command.errors.split(separator: "\n")
      #expect(command.status == 65, "\(name): \(arguments) ended with \(command.status)")
      #expect(lines.count == 1 && lines[0].hasPrefix("kvdump: \(path): "), "\(name): \(arguments): \(command.errors)")
      #expect(!command.output.contains("DATA=END") && !command.output.contains("\"end\""), "\(name): \(arguments)")
      if let page { #expect(command.errors.contains("page \(page)"), "\(name): \(command.errors)") }
    }
    let copy = try Tool.kvdump("copy", "--compact", path, "\(folder.path)/copy")
    #expect(copy.status == 65 && !FileManager.default.fileExists(atPath: "\(folder.path)/copy"), "\(name)")
    let verify = try Tool.kvdump("verify", path)
    #expect(verify.status == 1 && verify.output.contains("error"), "\(name)")
  }

  /// The texts are in `LoadTests`; here, that each of the rows ends so in every way to give a text.
  @Test(arguments: [
    ("no input", ""), ("the end in a header", "VERSION=3\nformat=print\n"),
    ("no DATA=END", "format=print\nHEADER=END\n a\n 1\n"), ("DATA=EN", "format=print\nHEADER=END\n a\n 1\nDATA=EN"),
    ("a bad digit in a key", "HEADER=END\n 6x\n 62\nDATA=END\n"),
    ("a bad escape in a key", "format=print\nHEADER=END\n \\4\n 1\nDATA=END\n"),
    ("no space before a key", "format=print\nHEADER=END\na\n 1\nDATA=END\n"),
    ("no space before a value", "format=print\nHEADER=END\n a\n1\nDATA=END\n"),
  ]) func malformedTextIsASentence(_ name: String, _ text: String) throws {
    let text = text.hasPrefix("HEADER=END") ? "VERSION=3\n" + text : text
    let input = "\(folder.path)/input"
    try Data(text.utf8).write(to: URL(fileURLWithPath: input))
    let target = "\(folder.path)/to"
    for script in [
      "\"$0\" load \"$2\" < \"$1\"", "\"$0\" load -f \"$1\" \"$2\"", "cat \"$1\" | \"$0\" load \"$2\"",
      "\"$0\" load --dry-run \"$2\" < \"$1\"",
    ] {
      let command = try Tool.shell(script, input, target)
      #expect(command.status == 65, "\(name): \(script)")
      #expect(
        command.errors.split(separator: "\n").count == 1 && command.errors.contains(", line "), "\(command.errors)")
      #expect(!FileManager.default.fileExists(atPath: "\(target)/data.mdb"))
    }
  }

  @Test func aFullDiskIsASentence() throws {
    let many = Tool.fixture("env/many")
    for arguments in [
      "dump", "dump -p", "dump --all", "cat", "cat -F csv", "cat --count", "export", "info", "ls", "verify", "stats",
      "pages",
      "get", "page",
    ] {
      let words = arguments.split(separator: " ")
      let rest =
        words.dropFirst().joined(separator: " ") + (words[0] == "get" ? " key000001" : words[0] == "page" ? " 2" : "")
      let command = try Tool.shell("\"$0\" \(words[0]) \"$1\" \(rest) > /dev/full", many)
      #expect(command.status == 74, "\(arguments)")
      let lines = command.errors.split(separator: "\n")
      #expect(lines.count == 1 && lines[0].contains("standard output cannot be written"), "\(command.errors)")
    }
    let file = try Tool.kvdump("dump", "-f", "/dev/full", many)
    #expect(file.status == 74 && file.errors.contains("/dev/full cannot be written"), "\(file.errors)")
    // What was there under the name stays.
    #expect(!FileManager.default.fileExists(atPath: "/dev/full.part"))
    #expect(
      try FileManager.default.attributesOfItem(atPath: "/dev/full")[.type] as? FileAttributeType
        == .typeCharacterSpecial)
  }

  @Test func aStoreIsNotWrittenOver() throws {
    let path = "\(folder.path)/data.mdb"
    let store = try Data(contentsOf: URL(fileURLWithPath: Tool.fixture("env/many/data.mdb")))
    try store.write(to: URL(fileURLWithPath: path))
    for arguments in [["dump", path, "-f", path], ["export", path, "-f", path], ["report", path, path]] {
      let command = try Tool.kvdump(arguments)
      #expect(command.status == 73 && command.errors.contains("is an LMDB file"), "\(arguments): \(command.errors)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == store)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["data.mdb"])
  }

  @Test func databasesThatCannotBeAreSentences() throws {
    func text(_ name: String) -> String { "VERSION=3\ndatabase=\(name)\nHEADER=END\n 61\n 62\nDATA=END\n" }
    let many = (0...4096).map { text("d\($0)") }.joined()
    for (input, reason) in [
      (many, "The database d4096 cannot be made: one load has at most 4096; split the input; nothing was loaded\n"),
      (
        text(String(repeating: "n", count: 512)),
        "has 512 bytes cannot be made; LMDB takes 1 to 511; nothing was loaded\n"
      ),
    ] {
      try Data(input.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/input"))
      let load = try Tool.kvdump("load", "\(folder.path)/to", "-f", "\(folder.path)/input")
      #expect(load.status == 65 && load.errors.hasSuffix(reason), "\(load.errors)")
    }
  }

  @Test func namesThatAreEmptyAreNotUsed() throws {
    let many = Tool.fixture("env/many")
    for arguments in [
      ["dump", many, "-f", ""], ["report", many, ""], ["copy", many, ""], ["recover", many, "-o", ""],
    ] {
      #expect(try Tool.kvdump(arguments).status == 64, "\(arguments)")
    }
    let lost = try Tool.kvdump("copy", many, "\(folder.path)/none/copy")
    #expect(lost.status == 73 && lost.errors.contains("the directory above it is not there"), "\(lost.errors)")
  }

  @Test func whatWasBegunIsRemoved() throws {
    let target = "\(folder.path)/out"
    #expect(try Tool.kvdump("dump", "-f", target, Tool.fixture("damaged/leaf5-zero")).status == 65)
    #expect(try Tool.kvdump("report", Tool.fixture("damaged/leaf5-zero"), target).status == 65)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
