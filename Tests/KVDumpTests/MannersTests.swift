import Foundation
import TestSupport
import Testing

/// What the tool leaves alone, and how it fails.
@Suite struct MannersTests {
  private static let readers = [
    ["info"], ["ls"], ["cat"], ["cat", "--count"], ["dump"], ["verify"], ["get", "key"],
  ]

  private func copy(_ fixture: String) throws -> TemporaryDirectory {
    let folder = TemporaryDirectory()
    try FileManager.default.copyItem(
      atPath: Tool.fixture("\(fixture)/data.mdb"), toPath: "\(folder.path)/data.mdb")
    return folder
  }

  @Test func readingChangesNothing() throws {
    let folder = try copy("env/many")
    let before = try Tool.listing(folder.path)
    for arguments in Self.readers {
      let command = try Tool.kvdump([arguments[0], folder.path] + arguments.dropFirst())
      #expect(command.status <= 1, "\(arguments) \(command.errors)")
      #expect(try Tool.listing(folder.path) == before, "\(arguments)")
    }
  }

  @Test func aFullDiskIsNotASuccess() throws {
    for arguments in ["dump", "cat", "info", "ls", "verify"] {
      let command = try Tool.shell("\"$0\" \(arguments) \"$1\" > /dev/full", Tool.fixture("env/many"))
      #expect(command.status == 74 && command.errors.contains("standard output cannot be written"), "\(arguments)")
    }
  }

  @Test func aClosedPipeEndsQuietly() throws {
    // Larger than a pipe holds, so that the command is still at it when its reader goes; also where SIGPIPE is ignored.
    for shell in ["", "trap '' PIPE; "] {
      for words in ["dump \"$1\"", "export \"$1\"", "cat \"$1\"", "get \"$1\" big"] {
        let script = "{ \(shell)\"$0\" \(words); echo $? >&2; } | head -c 10"
        let command = try Tool.shell(script, Tool.fixture("env/main"))
        #expect(command.output.utf8.count == 10 && command.errors == "141\n", "\(words): \(command.errors)")
      }
    }
  }

  @Test(.enabled(if: getuid() == 0, "only root can become somebody else"))
  func anotherUsersFilesAreReadOrRefused() throws {
    let folder = try copy("env/many")
    let data = "\(folder.path)/data.mdb"
    let lock = "\(folder.path)/lock.mdb"
    try Data().write(to: URL(fileURLWithPath: lock))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: lock)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    // A copy that others may run.
    let tool = "\(folder.path)/kvdump"
    try FileManager.default.copyItem(atPath: Place.product("kvdump"), toPath: tool)
    let script = "setpriv --reuid 65534 --clear-groups \"$1\" dump \"$2\""
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: data)
    let read = try Tool.shell(script, tool, folder.path)
    let expected = try Tool.text(Tool.fixture("dumps/many.main"))
    #expect(read.status == 0 && read.output == expected, "\(read.errors)")
    // The lock file is root's, so that no place in it can be held; nothing is made or changed.
    let locked = try Tool.shell("setpriv --reuid 65534 --clear-groups \"$1\" dump --lock \"$2\"", tool, folder.path)
    #expect(locked.status == 77 && locked.errors.split(separator: "\n").count == 1, "\(locked.errors)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["data.mdb", "kvdump", "lock.mdb"])
    try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: data)
    let refused = try Tool.shell(script, tool, folder.path)
    #expect(refused.status == 77 && refused.errors.contains("permission denied") && refused.output.isEmpty)
  }

  @Test func errorsCanBeJSON() throws {
    let command = try Tool.kvdump("info", "/none/at/all", "--json-errors")
    let object = try JSONSerialization.jsonObject(with: Data(command.errors.utf8)) as? [String: Any]
    #expect(command.status == 66 && object?["code"] as? Int == 66)
  }

  @Test func optionsMayBeWrittenInAnyWay() throws {
    let path = Tool.fixture("env/dup")
    let expected = try Tool.kvdump("dump", "-p", "-s", "dupsort", path).output
    for arguments in [
      ["dump", "-psdupsort", path], ["dump", "--database=dupsort", "--print", path], ["dump", path, "dupsort", "-p"],
      ["dump", "-p", "--", path, "dupsort"],
    ] {
      #expect(try Tool.kvdump(arguments).output == expected, "\(arguments)")
    }
    #expect(try Tool.kvdump("dump", "-s").status == 64)
    #expect(try Tool.kvdump("dump", "--print=x", path).status == 64)
  }

  @Test func ctrlCEndsWithASentence() throws {
    // A reader that nobody empties: the command is still at it when the signal comes.
    let script = """
      mkfifo "$2"; "$0" dump "$1" > "$2" & pid=$!
      exec 3< "$2"; kill -INT $pid; cat <&3 > /dev/null; wait $pid; echo $?
      """
    let folder = TemporaryDirectory()
    let command = try Tool.shell(script, Tool.fixture("env/main"), "\(folder.path)/pipe")
    #expect(["130\n", "0\n"].contains(command.output))
  }

  @Test(arguments: ["TERM", "HUP"]) func aRequestToEndLeavesNothing(_ signal: String) throws {
    // More than a pipe holds, so that the command is at work when the signal comes, and then what it notices it by.
    let script = """
      records() { awk 'BEGIN { for (i = 0; i < 20000; i++) printf " %08x\\n 00\\n", i }'; }
      mkfifo "$1/pipe"; "$0" load "$1/new" < "$1/pipe" & pid=$!
      exec 3> "$1/pipe"; printf "VERSION=3\\nformat=bytevalue\\nHEADER=END\\n" >&3; records >&3
      kill -\(signal) $pid; records >&3 2> /dev/null; exec 3>&-
      wait $pid; echo $?; ls "$1"
      """
    let folder = TemporaryDirectory()
    let command = try Tool.shell(script, folder.path)
    #expect(command.output == "130\npipe\n", "\(command.output)\(command.errors)")
  }

  @Test func whatIsToOutliveItsTerminalDoes() throws {
    let script = """
      mkfifo "$1/pipe"; (trap '' HUP; exec "$0" load "$1/new" < "$1/pipe") & pid=$!
      exec 3> "$1/pipe"; printf "VERSION=3\\nformat=bytevalue\\nHEADER=END\\n 61\\n 62\\n" >&3
      kill -HUP $pid; printf "DATA=END\\n" >&3; exec 3>&-
      wait $pid; echo $?; ls "$1"
      """
    let folder = TemporaryDirectory()
    let command = try Tool.shell(script, folder.path)
    #expect(command.output == "0\nnew\npipe\n", "\(command.output)\(command.errors)")
  }
}
