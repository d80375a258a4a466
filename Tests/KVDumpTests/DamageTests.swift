import Foundation
import TestSupport
import Testing

/// What is damaged ends with a code other than zero and one sentence, whatever the command.
@Suite struct DamageTests {
  /// The damage that loses nothing, so that all is read.
  private static let harmless: Set = ["mapsize-huge", "trailing-garbage"]

  @Test(arguments: Tool.names("damaged")) func readingSaysSo(_ name: String) throws {
    let path = Tool.fixture("damaged/\(name)")
    for arguments in [["dump"], ["dump", "--all", "-p"], ["cat", "--keys"], ["cat", "-F", "csv"]] {
      let command = try Tool.kvdump([arguments[0], path] + arguments.dropFirst())
      if Self.harmless.contains(name) {
        #expect(command.status == 0 && command.errors.isEmpty)
      } else {
        let lines = command.errors.split(separator: "\n")
        #expect([65, 69].contains(command.status), "\(arguments)")
        #expect(lines.count == 1 && lines[0].hasPrefix("kvdump: \(path): "), "\(command.errors)")
        #expect(!command.output.contains("DATA=END"))
      }
    }
  }

  @Test(arguments: Tool.names("damaged")) func verifySaysWhat(_ name: String) throws {
    let command = try Tool.kvdump("verify", Tool.fixture("damaged/\(name)"))
    let isFatal = ["metas-zero", "psize-3000", "short100", "version999"].contains(name)
    #expect(command.status == (name == "trailing-garbage" ? 0 : isFatal ? command.status : 1))
    #expect(isFatal ? [65, 69].contains(command.status) && command.output.isEmpty : command.errors.isEmpty)
    if name == "trailing-garbage" {
      #expect(try Tool.kvdump("verify", "--strict", Tool.fixture("damaged/\(name)")).status == 2)
    }
  }

  @Test func orderCanBeIgnored() throws {
    let path = Tool.fixture("damaged/leaf5-unsorted")
    #expect(try Tool.kvdump("dump", "--ignore-order", path).output.hasSuffix("DATA=END\n"))
    #expect(try Tool.kvdump("verify", "--ignore-order", path).status == 0)
    #expect(try Tool.kvdump("cat", "--ignore-order", path).status == 0)
  }

  @Test func otherFilesAreNamed() throws {
    let folder = TemporaryDirectory()
    let cases: [(String, [UInt8], String)] = [
      ("photo.mdb", [0, 1, 0, 0] + Array("Standard Jet DB".utf8) + [0], "Microsoft Access"),
      ("lfs.mdb", Array("version https://git-lfs.github.com/spec/v1\n".utf8), "Git LFS"),
      ("sqlite", Array("SQLite format 3\0".utf8), "SQLite"), ("empty", [], "empty file"),
      ("mdbx", [UInt8](repeating: 0, count: 20) + [3, 0x11, 0x4C, 0xEF, 0xBD, 0x9D, 0x65, 0x59], "libmdbx"),
      ("dump.txt", Array("VERSION=3\nformat=print\n".utf8), "kvdump load"),
      ("notes", Array("hello".utf8), "text file"), ("zero", [UInt8](repeating: 0, count: 8192), "starts with zeros"),
    ]
    for (name, bytes, what) in cases {
      let path = "\(folder.path)/\(name)"
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      for command in ["info", "dump", "verify", "ls"] {
        let result = try Tool.kvdump(command, path)
        #expect(result.status == 69 && result.errors.contains(what) && result.output.isEmpty, "\(name)")
      }
    }
  }
}
