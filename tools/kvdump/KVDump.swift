import Foundation
import Holdfast
import LMDBFile

/// The command-line tool: `kvdump COMMAND PATH [ARGUMENTS]`.
@main
enum KVDump {
  static let version = "0.1.0"

  /// All commands, in the order of the help.
  static let commands: [any Command.Type] = [
    InfoCommand.self, ListCommand.self, CatCommand.self, GetCommand.self, StatsCommand.self, ReportCommand.self,
    DumpCommand.self, LoadCommand.self, ExportCommand.self, ImportCommand.self, VerifyCommand.self, RecoverCommand.self,
    CopyCommand.self, DiffCommand.self, WatchCommand.self, ReadersCommand.self, PagesCommand.self, PageCommand.self,
    OutboxListCommand.self, OutboxShowCommand.self, OutboxStatsCommand.self, OutboxVerifyCommand.self,
    OutboxTailCommand.self, OutboxRequeueCommand.self, OutboxCancelCommand.self, OutboxRepairCommand.self,
    StateListCommand.self,
    StateGetCommand.self, StateShowCommand.self, StateStatsCommand.self,
    StateVerifyCommand.self, StateTailCommand.self, CacheListCommand.self, CacheShowCommand.self,
    CacheStatsCommand.self, CacheVerifyCommand.self, CacheTailCommand.self, CompletionsCommand.self,
    ManualCommand.self, HelpCommand.self,
  ]

  static func main() {
    Interrupt.install()
    let words = Array(CommandLine.arguments.dropFirst())
    do throws(Failure) {
      try run(words)
    } catch {
      if words.contains("--json-errors"), !error.message.isEmpty {
        writeError("{\"error\":\(JSONText.quoted(error.message)),\"code\":\(error.exitCode)}\n")
      } else if !error.message.isEmpty {
        writeError("kvdump: \(error.message)\n")
      }
      exit(error.exitCode)
    }
  }

  private static func run(_ words: [String]) throws(Failure) {
    guard let first = words.first else {
      throw Failure(.usage, "say what to do, such as `kvdump info PATH`; `kvdump help` lists the commands")
    }
    if ["--help", "-h"].contains(first) { return try HelpCommand.show(nil) }
    if ["--version", "-V"].contains(first) { return try HelpCommand.showVersion() }
    let (command, rest) = try find(words)
    if rest.contains("--help") { return try HelpCommand.show(command) }
    var arguments = try Arguments(rest, for: command.help)
    let context = try Context(arguments)
    let run = try command.init(&arguments)
    try arguments.end()
    try run.run(context)
    try context.output.flush()
  }

  /// The commands whose name starts with a word, such as `outbox`.
  static func group(_ word: String) -> [any Command.Type] { commands.filter { $0.help.name.hasPrefix(word + " ") } }

  /// The command that the first word names, or the first two.
  static func find(_ words: [String]) throws(Failure) -> (any Command.Type, [String]) {
    let first = words[0] == "scan" ? "cat" : words[0]
    if let command = commands.first(where: { $0.help.name == first }) { return (command, Array(words.dropFirst())) }
    let group = group(first).map { $0.help.name }
    guard !group.isEmpty else {
      if (try? ByteSource.status(of: first)) != nil {
        throw Failure(.usage, "say what to do with it, such as `kvdump info \(printable(first))`")
      }
      throw Failure(.usage, "there is no command \(printable(first)); `kvdump help` lists them")
    }
    guard words.count > 1, let command = commands.first(where: { $0.help.name == "\(first) \(words[1])" }) else {
      throw Failure(
        .usage,
        "`\(first)` is followed by \(group.map { "`\($0.dropFirst(first.count + 1))`" }.joined(separator: ", "))")
    }
    return (command, Array(words.dropFirst(2)))
  }
}
