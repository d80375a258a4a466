/// `manual`: the man page.
struct ManualCommand: Command {
  static let help = Help(
    "manual", "", "writes the man page; tools/install puts it in place", example: "kvdump manual | man -l -")

  init(_ arguments: inout Arguments) throws(Failure) {}

  func run(_ context: Context) throws(Failure) {
    try context.output.line(".TH KVDUMP 1 \"\" \"kvdump \(KVDump.version)\" \"User Commands\"")
    try section("NAME", "kvdump \\- shows, checks, saves and converts LMDB files", context)
    try section("SYNOPSIS", ".B kvdump\n.I COMMAND PATH\n.RI [ ARGUMENTS ]", context)
    try section("DESCRIPTION", Self.text(HelpCommand.introduction), context)
    try context.output.line(".SH COMMANDS")
    for command in KVDump.commands { try write(command.help, context) }
    try context.output.line(".SH OPTIONS\nFor every command:")
    for option in Help.common { try write(option, context) }
    try section("TERMS", ".nf\n\(Self.text(HelpCommand.terms))\n.fi", context)
    try section("EXIT STATUS", Self.text(HelpCommand.exitCodes), context)
    try section("SEE ALSO", ".BR mdb_dump (1),\n.BR mdb_load (1),\n.BR mdb_stat (1),\n.BR mdb_copy (1)", context)
  }

  private func section(_ title: String, _ text: String, _ context: Context) throws(Failure) {
    try context.output.line(".SH \(title)\n\(text)")
  }

  private func write(_ help: Help, _ context: Context) throws(Failure) {
    try context.output.line(".SS \(Self.text("\(help.name) \(help.operands)".trimmed))")
    try context.output.line(Self.text(help.summary.prefix(1).uppercased() + help.summary.dropFirst() + "."))
    if !help.details.isEmpty { try context.output.line(".PP\n" + Self.text(help.details)) }
    for option in help.options { try write(option, context) }
    try context.output.line(".PP\nExample:\n.PP\n.nf\n.RS\n\(Self.text(help.example))\n.RE\n.fi")
  }

  private func write(_ option: Help.Option, _ context: Context) throws(Failure) {
    let names = option.names.map { "\\fB\(Self.text($0))\\fR" }.joined(separator: ", ")
    let value = option.value.map { " \\fI\($0)\\fR" } ?? ""
    try context.output.line(".TP\n\(names)\(value)\n\(Self.text(option.about))")
  }

  /// Text with what troff would take for its own.
  private static func text(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("-", with: "\\-")
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
  }
}
