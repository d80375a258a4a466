/// One command of the tool: what it takes, and what it does.
protocol Command: SendableMetatype {
  static var help: Help { get }
  init(_ arguments: inout Arguments) throws(Failure)
  func run(_ context: Context) throws(Failure)
}

/// What a command takes, from which its help, the man page and the completions are made.
struct Help: Sendable {
  /// An option, by its names.
  struct Option: Sendable {
    let names: [String]
    /// What follows it, such as `N`; `nil` for a switch.
    let value: String?
    /// What it is for, as a phrase.
    let about: String

    /// Makes an option from its names as a help shows them, the short one first: `-s, --database`.
    init(_ names: String, value: String? = nil, _ about: String) {
      self.names = names.split(separator: ", ").map(String.init)
      self.value = value
      self.about = about
    }

    /// As in a list: `-s, --database NAME`.
    var spelling: String { names.joined(separator: ", ") + (value.map { " \($0)" } ?? "") }
  }

  /// One word, or two for a sub-command.
  let name: String
  /// What comes after it, such as `PATH [DATABASE]`.
  let operands: String
  /// What it does, in a line.
  let summary: String
  /// What more there is to know.
  let details: String
  let options: [Option]
  /// A command line for the store that the quickstart leaves behind.
  let example: String

  init(
    _ name: String, _ operands: String, _ summary: String, details: String = "", options: [Option] = [],
    example: String
  ) {
    self.name = name
    self.operands = operands
    self.summary = summary
    self.details = details
    self.options = options
    self.example = example
  }

  /// Options that every command takes.
  static let common: [Option] = [
    Option("--help", "show this text"),
    Option("-q, --quiet", "no progress and no remarks on standard error"),
    Option("--color", value: "WHEN", "auto, always or never"),
    Option("--json-errors", "an error as one line of JSON"),
  ]

  /// Options of commands that read a data file.
  static let reading: [Option] = [
    Option("--meta", value: "N", "read the commit of meta page 0 or 1, not the newest"),
    Option("--lock", "hold a reader's place in lock.mdb, so that a busy writer cannot disturb"),
  ]

  /// The text for a terminal.
  var text: String {
    var lines = ["kvdump \(name): \(summary)", "", "Usage: kvdump \(name) \(operands)".trimmed]
    if !details.isEmpty { lines += ["", details] }
    let width = (options + Help.common).map(\.spelling.count).max() ?? 0
    func list(_ title: String, _ options: [Option]) {
      if options.isEmpty { return }
      lines += ["", "\(title):"]
      lines += options.map { "  " + $0.spelling.padded(to: width) + "  " + $0.about }
    }
    list("Options", options)
    list("For every command", Help.common)
    lines += ["", "Example:", "  \(example)"]
    return lines.joined(separator: "\n")
  }
}

extension String {
  var trimmed: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }

  /// With spaces at its end, up to a number of characters.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
