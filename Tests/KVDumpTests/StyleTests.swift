import Foundation
import TestSupport
import Testing

@testable import kvdump

/// Colours are for people at a terminal who have not said that they want none.
@Suite struct StyleTests {
  @Test func theChoiceDecides() {
    let none: [String: String] = [:]
    #expect(
      Style.Choice.auto.isColored(onTerminal: true, none) && !Style.Choice.auto.isColored(onTerminal: false, none))
    #expect(!Style.Choice.auto.isColored(onTerminal: true, ["NO_COLOR": "1"]))
    #expect(Style.Choice.auto.isColored(onTerminal: true, ["NO_COLOR": ""]))
    #expect(!Style.Choice.auto.isColored(onTerminal: true, ["TERM": "dumb"]))
    #expect(Style.Choice.auto.isColored(onTerminal: false, ["CLICOLOR_FORCE": "1"]))
    #expect(!Style.Choice.auto.isColored(onTerminal: false, ["CLICOLOR_FORCE": "0"]))
    #expect(!Style.Choice.auto.isColored(onTerminal: true, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"]))
    #expect(Style.Choice.always.isColored(onTerminal: false, ["NO_COLOR": "1"]))
    #expect(!Style.Choice.never.isColored(onTerminal: true, ["CLICOLOR_FORCE": "1"]))
  }

  @Test func outputHasThemOnlyIfAsked() throws {
    let path = Tool.fixture("damaged/leaf5-zero")
    let plain = try Tool.kvdump("verify", path).output
    #expect(!plain.contains("\u{1B}"))
    let colored = try Tool.kvdump("verify", "--color", "always", path).output
    #expect(colored.contains("\u{1B}[31merror  \u{1B}[0m"))
    #expect(colored.replacing(#/\u{1B}\[[0-9]+m/#, with: "") == plain)
    let list = try Tool.kvdump("ls", "--color=always", Tool.fixture("env/dup")).output
    #expect(list.hasPrefix("\u{1B}[1mDATABASE") && list.contains("\u{1B}[0m\n"))
    #expect(try Tool.kvdump("ls", "--color", "sometimes", path).status == 64)
    // What programs read back has none, whatever is asked for.
    let dump = try Tool.kvdump("dump", "--color", "always", Tool.fixture("env/many")).output
    #expect(dump == (try Tool.text(Tool.fixture("dumps/many.main"))))
    for format in ["jsonl", "csv", "raw0"] {
      #expect(
        try !Tool.kvdump("cat", "--color", "always", "-F", format, Tool.fixture("env/many")).output.contains("\u{1B}"))
    }
  }

  static let script = "/usr/bin/script"

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: script), "no script(1) to make a terminal"))
  func aTerminalHasThem() throws {
    let line = "\(Place.product("kvdump")) ls \(Tool.fixture("env/dup"))"
    let run = "env -u NO_COLOR -u CLICOLOR_FORCE TERM=xterm"
    let shown = try Command("/bin/sh", ["-c", "\(Self.script) -qec \"\(run) \(line)\" /dev/null"])
    #expect(shown.status == 0 && shown.output.contains("\u{1B}[1mDATABASE"))
    let plain = try Command("/bin/sh", ["-c", "\(Self.script) -qec \"\(run) NO_COLOR=1 \(line)\" /dev/null"])
    #expect(plain.output.contains("DATABASE") && !plain.output.contains("\u{1B}"))
  }
}
