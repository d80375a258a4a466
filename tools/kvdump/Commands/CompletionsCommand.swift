/// `completions SHELL`: a script that completes command lines.
struct CompletionsCommand: Command {
  static let help = Help(
    "completions", "SHELL", "writes completions for bash, zsh or fish; tools/install puts them in place",
    example: "kvdump completions bash")

  private enum Shell: String, CaseIterable { case bash, zsh, fish }

  private let shell: Shell

  init(_ arguments: inout Arguments) throws(Failure) {
    let word = try arguments.operand("the shell")
    guard let shell = Shell(rawValue: word) else {
      throw Failure(.usage, "\(printable(word)) is not bash, zsh or fish")
    }
    self.shell = shell
  }

  func run(_ context: Context) throws(Failure) {
    switch shell {
    case .bash: try context.output.write(Self.bash)
    case .zsh: try context.output.write(Self.zsh)
    case .fish: try context.output.write(Self.fish)
    }
  }

  private static var helps: [Help] { KVDump.commands.map { $0.help } }

  /// The first words, and the second words of those that have some.
  private static var words: (first: [String], second: [(String, [String])]) {
    var first: [String] = []
    var second: [(String, [String])] = []
    for help in helps {
      let parts = help.name.split(separator: " ").map(String.init)
      if !first.contains(parts[0]) { first.append(parts[0]) }
      guard parts.count == 2 else { continue }
      if let index = second.firstIndex(where: { $0.0 == parts[0] }) {
        second[index].1.append(parts[1])
      } else {
        second.append((parts[0], [parts[1]]))
      }
    }
    return (first, second)
  }

  private static func names(_ help: Help) -> String {
    (help.options + Help.common).flatMap(\.names).joined(separator: " ")
  }

  private static var bash: String {
    let groups = words.second.map { group, words in
      "    \(group)) [ \"$COMP_CWORD\" -eq 2 ] && { COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$word\")); return; }; command=\"$command ${COMP_WORDS[2]}\" ;;"
    }
    let options = helps.map { "    \"\($0.name)\") options=\"\(names($0))\" ;;" }
    return """
      # bash completion for kvdump
      _kvdump() {
        local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options=""
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W "\(words.first.joined(separator: " "))" -- "$word"))
          return
        fi
        case $command in
      \(groups.joined(separator: "\n"))
        esac
        case $command in
      \(options.joined(separator: "\n"))
        esac
        if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word")); fi
      }
      complete -o default -o bashdefault -F _kvdump kvdump

      """
  }

  private static func escaped(_ text: String) -> String { text.replacing("'", with: "'\\''") }

  private static var zsh: String {
    let first = words.first.map { word in
      let about = helps.first { $0.name == word }?.summary ?? "commands for the package's own stores"
      return "      '\(word):\(escaped(about.replacing(":", with: "\\:")))'"
    }
    let groups = words.second.map { group, words in
      "    \(group)) if (( CURRENT == 3 )); then compadd \(words.joined(separator: " ")); return; fi; command=\"$command ${words[3]}\" ;;"
    }
    let options = helps.map { "    '\($0.name)') options=(\(names($0))) ;;" }
    return """
      #compdef kvdump
      # zsh completion for kvdump
      _kvdump() {
        local command=${words[2]}
        local -a options commands
        if (( CURRENT == 2 )); then
          commands=(
      \(first.joined(separator: "\n"))
          )
          _describe command commands
          return
        fi
        case $command in
      \(groups.joined(separator: "\n"))
        esac
        case $command in
      \(options.joined(separator: "\n"))
        esac
        if [[ ${words[CURRENT]} == -* ]]; then compadd -- $options; else _files; fi
      }
      _kvdump "$@"

      """
  }

  private static var fish: String {
    var lines = ["# fish completion for kvdump"]
    for word in words.first {
      let about = helps.first { $0.name == word }?.summary ?? "commands for the package's own stores"
      lines.append("complete -c kvdump -n __fish_use_subcommand -f -a \(word) -d '\(escaped(about))'")
    }
    for (group, words) in words.second {
      lines.append(
        "complete -c kvdump -n '__fish_seen_subcommand_from \(group); and not __fish_seen_subcommand_from "
          + "\(words.joined(separator: " "))' -f -a '\(words.joined(separator: " "))'")
    }
    for help in helps {
      let condition = help.name.split(separator: " ").map { "__fish_seen_subcommand_from \($0)" }.joined(
        separator: "; and ")
      for option in help.options + Help.common {
        let flags = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst(1))" }
        let value = option.value == nil ? "" : " -r"
        lines.append(
          "complete -c kvdump -n '\(condition)' \(flags.joined(separator: " "))\(value) -d '\(escaped(option.about))'")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
