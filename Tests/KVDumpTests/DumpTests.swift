import Foundation
import TestSupport
import Testing

/// `dump` beside mdb_dump 0.9.24: the same bytes.
@Suite struct DumpTests {
  static let dumps = Tool.names("dumps").filter { !$0.hasSuffix(".err") && !$0.hasPrefix("backslash") }

  /// The command line whose output a fixture is.
  static func arguments(for dump: String) -> [String] {
    var parts = dump.split(separator: ".").map(String.init)
    let environment = parts.removeFirst()
    var options: [String] = []
    if parts.last == "p" {
      options = ["-p", "--mdb-version", "0.9.24"]
      parts.removeLast()
    }
    switch parts.first {
    case "a", "as": options.append("-a")
    case "l": options.append("-l")
    case "n": options.append("-n")
    case "s": options += ["-s", parts[1]]
    default: break
    }
    if parts.first == "as" { options += ["-s", "users"] }
    let file = environment == "single" ? "single.mdb" : environment
    return ["dump", "-q"] + options + [Tool.fixture("env/\(file)")]
  }

  @Test(arguments: dumps) func isTheSame(_ dump: String) throws {
    let command = try Tool.kvdump(Self.arguments(for: dump))
    let expected = try Tool.text(Tool.fixture("dumps/\(dump)"))
    // Given a file without -n, mdb_dump says that it is no directory; a data file is recognised here.
    let isTheSame = dump == "single.nop" || command.output == expected
    #expect(isTheSame)
    #expect(command.status == 0 || command.errors.split(separator: "\n").count == 1)
    if command.output.isEmpty { #expect(command.status != 0) }
  }

  @Test func theFixturesAreThere() { #expect(Self.dumps.count == 74) }

  @Test func backslashesAreDoubledSince0_9_25() throws {
    let old = try Tool.kvdump("dump", "-p", "--mdb-version", "0.9.24", Tool.fixture("env/named"))
    let new = try Tool.kvdump("dump", "-p", Tool.fixture("env/named"))
    #expect(old.output.contains("\n back\\slash\n") && new.output.contains("\n back\\\\slash\n"))
  }

  @Test func allIncludesTheMainDatabasesOwnRecords() throws {
    let all = try Tool.kvdump("dump", "--all", "-p", Tool.fixture("env/mixed"))
    let sections = all.output.components(separatedBy: "VERSION=3\n").dropFirst().map { $0.contains("database=") }
    #expect(all.status == 0 && sections == [false, true])
    let named = try Tool.kvdump("dump", "-a", Tool.fixture("env/mixed"))
    #expect(named.status == 0 && named.errors.contains("2 records of the main database are left out"))
  }

  @Test func aNameWithALineBreakIsDumpedAndRefused() throws {
    let command = try Tool.kvdump("dump", "-a", Tool.fixture("env/nlname"))
    #expect(command.status == 65 && command.errors.contains("line break"))
    #expect(command.output.components(separatedBy: "DATA=END").count == 3)
  }

  @Test func aFileAppearsOnceItIsComplete() throws {
    let folder = TemporaryDirectory()
    let file = "\(folder.path)/out"
    #expect(try Tool.kvdump("dump", "-f", file, Tool.fixture("env/many")).status == 0)
    #expect(try Tool.text(file) == Tool.text(Tool.fixture("dumps/many.main")))
    #expect(try Tool.kvdump("dump", "-f", file, Tool.fixture("damaged/leaf5-zero")).status == 65)
    #expect(try Tool.text(file) == Tool.text(Tool.fixture("dumps/many.main")))
    #expect(try Tool.kvdump("dump", "-f", "\(folder.path)/none/out", Tool.fixture("env/many")).status == 73)
  }
}
