import Foundation
import Holdfast
import TestSupport
import Testing

@testable import kvdump

/// Help, man page and completions; every example is run as somebody would paste it.
@Suite struct HelpTests {
  @Test func everyExampleWorks() throws {
    let folder = TemporaryDirectory()
    let build = "\(folder.path)/.build"
    try FileManager.default.createDirectory(atPath: "\(build)/quickstart", withIntermediateDirectories: true)
    let record = try Command(
      Place.product("offline-comments"),
      ["record", "\(build)/quickstart/store", "\(Place.root)/tools/offline-comments/comments.jsonl", "--limit", "440"])
    #expect(record.status == 0, "\(record.errors)")
    try FileManager.default.copyItem(atPath: "\(build)/quickstart/store", toPath: "\(build)/quickstart-backlog")
    do {
      let cache = try DiskCache.open(at: "\(build)/quickstart-cache")
      try cache.setValue([1, 2, 3], forKey: "thumbnail:42")
    }
    let directory = URL(fileURLWithPath: Place.product("kvdump")).deletingLastPathComponent().path
    for command in KVDump.commands {
      let help = command.help
      let script = "cd \"$1\" && PATH=\"$2:$PATH\" && \(help.example)"
      let result = try Tool.shell(script, folder.path, directory)
      // That two stores differ, and that a page cannot be shown without man, are answers.
      let answers: [Int32] = help.name == "diff" ? [0, 1] : help.name == "manual" ? [0, 16, 127] : [0]
      #expect(answers.contains(result.status), "\(help.example): \(result.errors)")
      if help.name == "outbox tail" { #expect(result.output.contains("enqueued")) }
      if help.name == "cache show" { #expect(result.output.contains("thumbnail:42")) }
    }
  }

  @Test func everyCommandHasHelp() throws {
    let overview = try Tool.kvdump("help")
    #expect(overview.status == 0 && overview.errors.isEmpty)
    for command in KVDump.commands {
      let help = command.help
      #expect(overview.output.contains("  \(help.name) "))
      #expect(help.text.split(separator: "\n").allSatisfy { $0.count <= 125 }, "\(help.name)")
      #expect(help.summary.count <= 90 && !help.summary.hasSuffix("."), "\(help.name)")
      let names = (help.options + Help.common).flatMap(\.names)
      #expect(Set(names).count == names.count, "\(help.name): an option has a name of another")
    }
    let words = ["dump", "outbox", "list"]
    #expect(try Tool.kvdump("dump", "--help").output == Tool.kvdump(["help"] + words.prefix(1)).output)
    #expect(try Tool.kvdump("outbox", "list", "--help").output == Tool.kvdump(["help"] + words.suffix(2)).output)
    let group = try Tool.kvdump("help", "outbox").output.split(separator: "\n")
    #expect(group.count == 8 && group.allSatisfy { $0.hasPrefix("  outbox ") })
    #expect(try Tool.kvdump(Tool.fixture("env/many")).errors.contains("such as `kvdump info "))
    #expect(try Tool.kvdump("get", Tool.fixture("env/named"), "none").errors.contains("`kvdump ls` lists"))
    let terms = try Tool.kvdump("help", "terms")
    #expect(terms.status == 0 && terms.output.split(separator: "\n").allSatisfy { $0.count <= 125 })
    for word in ["database", "commit", "page", "meta page"] { #expect(terms.output.contains("\n\(word) ")) }
    #expect(try Tool.kvdump("--version").output.hasPrefix("kvdump "))
    for arguments in [["outbox"], ["outbox", "nonsense"], ["help", "nonsense"], ["completions", "csh"]] {
      #expect(try Tool.kvdump(arguments).status == 64)
    }
  }

  @Test func completionsAreScripts() throws {
    let bash = """
      eval "$("$0" completions bash)"
      complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _kvdump; echo "${COMPREPLY[@]}"; }
      complete_words kvdump ver; complete_words kvdump outbox ta; complete_words kvdump dump --mdb
      complete_words kvdump state list --pre
      """
    let command = try Command("/bin/bash", ["-c", bash, Place.product("kvdump")])
    #expect(command.output == "verify\ntail\n--mdb-version\n--prefix\n" && command.errors.isEmpty, "\(command.errors)")
    for shell in ["zsh", "fish"] {
      let script = try Tool.kvdump("completions", shell)
      #expect(script.status == 0 && script.output.contains("verify"))
    }
  }

  @Test func theManPageIsWellFormed() throws {
    let page = try Tool.kvdump("manual").output
    #expect(page.hasPrefix(".TH KVDUMP 1"))
    for command in KVDump.commands {
      #expect(
        page.contains(".SS " + "\(command.help.name) \(command.help.operands)".trimmed.replacing("-", with: "\\-")))
    }
    let macros: Set = ["TH", "SH", "SS", "PP", "TP", "nf", "fi", "RS", "RE", "B", "I", "RI", "BR"]
    for line in page.split(separator: "\n") where line.hasPrefix(".") {
      #expect(macros.contains(String(line.dropFirst().prefix { $0 != " " })), "\(line)")
    }
  }

  @Test func anInstallationGoesWhereTheCallerStands() throws {
    let folder = TemporaryDirectory()
    let script = "cd \"$2\" && \"$1/tools/install\" --prefix here --binary \"$0\" && \"$1/tools/install\" --help"
    let install = try Tool.shell(script, Place.root, folder.path)
    #expect(
      install.status == 0 && install.output.contains("Put \(folder.path)/here/bin on the PATH"), "\(install.output)")
    #expect(FileManager.default.isExecutableFile(atPath: "\(folder.path)/here/bin/kvdump"))
  }

  @Test func itIsInstalled() throws {
    let folder = TemporaryDirectory()
    let command = try Command(
      "\(Place.root)/tools/install", ["--prefix", folder.path, "--binary", Place.product("kvdump")])
    #expect(command.status == 0, "\(command.errors)")
    for file in [
      "bin/kvdump", "share/man/man1/kvdump.1", "share/bash-completion/completions/kvdump",
      "share/zsh/site-functions/_kvdump", "share/fish/vendor_completions.d/kvdump.fish",
    ] {
      #expect(FileManager.default.fileExists(atPath: "\(folder.path)/\(file)"), "\(file)")
    }
  }
}
