/// `help [COMMAND]`: the commands, or one of them.
struct HelpCommand: Command {
  static let help = Help(
    "help", "[COMMAND]", "shows all commands, or how one is used", example: "kvdump help dump")

  private let words: [String]

  init(_ arguments: inout Arguments) throws(Failure) { words = arguments.rest() }

  func run(_ context: Context) throws(Failure) {
    if words.isEmpty { return try Self.show(nil) }
    try Self.show(try KVDump.find(words).0)
  }

  static func show(_ command: (any Command.Type)?) throws(Failure) {
    var output = Output()
    try output.line(command?.help.text ?? overview)
    try output.flush()
  }

  static func showVersion() throws(Failure) {
    var output = Output()
    try output.line("kvdump \(KVDump.version), reads LMDB 0.9, 0.9.90 and 1.0, writes LMDB 0.9")
    try output.flush()
  }

  static let introduction = """
    Shows what is in an LMDB file, whoever made it and whatever has happened to it, and saves what can be saved.
    PATH is a directory with a data.mdb, or a data file. Commands that read change nothing, and lock nothing.
    """

  static let exitCodes = """
    0 done, 1 no (not found, not equal, not sound), 2 only warnings (verify --strict), 64 wrong usage, 65 damaged or
    malformed data, 66 no such file or database, 69 not an LMDB file, 73 cannot create, 74 input or output failed,
    75 changed while it was read, 77 not allowed, 130 interrupted.
    """

  private static var overview: String {
    let width = KVDump.commands.map { $0.help.name.count }.max() ?? 0
    let list = KVDump.commands.map { "  " + $0.help.name.padded(to: width) + "  " + $0.help.summary }
    return """
      Usage: kvdump COMMAND PATH [ARGUMENTS]

      \(introduction)

      \(list.joined(separator: "\n"))

      `kvdump help COMMAND` shows the options of a command, and an example.

      Data goes to standard output, everything else to standard error. Exit codes:
      \(exitCodes)
      """
  }
}
