import LMDBFile

/// The words after a command, sorted into options and operands by what its help says.
struct Arguments {
  private var values: [String: [String]] = [:]
  private var switches: Set<String> = []
  private var operands: ArraySlice<String> = []
  private let help: Help

  /// - Throws: `usage` for an option that the command does not take.
  init(_ words: [String], for help: Help) throws(Failure) {
    self.help = help
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      if word.hasPrefix("--") {
        try takeLong(word, &rest)
      } else if word.hasPrefix("-"), word.count > 1 {
        try takeShort(word, &rest)
      } else {
        operands.append(word)
      }
    }
  }

  private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let option = try option(parts[0])
    if option.value == nil {
      guard parts.count == 1 else { throw Failure(.usage, "\(parts[0]) takes no value; leave out what follows `=`") }
      switches.insert(option.names[0])
    } else if parts.count == 2 {
      values[option.names[0], default: []].append(parts[1])
    } else {
      try takeValue(of: option, parts[0], &rest)
    }
  }

  /// Takes letters, which may be several in a word; the last may have its value in the same word.
  private mutating func takeShort(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      let option = try option("-\(letter)")
      if option.value == nil {
        switches.insert(option.names[0])
      } else if letters.isEmpty {
        try takeValue(of: option, "-\(letter)", &rest)
      } else {
        values[option.names[0], default: []].append(String(letters))
        return
      }
    }
  }

  private mutating func takeValue(
    of option: Help.Option, _ name: String, _ rest: inout ArraySlice<String>
  ) throws(Failure) {
    guard let value = rest.popFirst() else {
      throw Failure(.usage, "\(name) needs a value: `\(name) \(option.value ?? "")`")
    }
    values[option.names[0], default: []].append(value)
  }

  private func option(_ name: String) throws(Failure) -> Help.Option {
    guard let option = (help.options + Help.common).first(where: { $0.names.contains(name) }) else {
      throw Failure(
        .usage, "`\(help.name)` does not know \(printable(name)); `kvdump help \(help.name)` lists what it takes")
    }
    return option
  }

  private func firstName(_ name: String) -> String {
    (help.options + Help.common).first { $0.names.contains(name) }?.names[0] ?? name
  }

  /// Whether a switch was given, by any of its names.
  func has(_ name: String) -> Bool { switches.contains(firstName(name)) }

  /// The value of an option; the last, if it was given more than once.
  func value(_ name: String) -> String? { values[firstName(name)]?.last }

  /// The number after an option.
  func number(_ name: String) throws(Failure) -> Int? {
    guard let word = value(name) else { return nil }
    guard let number = Int(word), number >= 0 else {
      throw Failure(.usage, "\(name) needs a number, such as `\(name) 5`")
    }
    return number
  }

  /// One of some words after an option.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, as type: Choice.Type = Choice.self
  ) throws(Failure) -> Choice? where Choice.RawValue == String {
    guard let word = value(name) else { return nil }
    guard let choice = Choice(rawValue: word) else {
      let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure(.usage, "\(name) \(printable(word)) is not one of \(all)")
    }
    return choice
  }

  /// Takes the next operand, if there is one.
  mutating func next() -> String? { operands.popFirst() }

  /// Takes the path that most commands need.
  mutating func path() throws(Failure) -> String {
    guard let path = next(), !path.isEmpty else {
      throw Failure(.usage, "name the store's directory or data file; `kvdump help \(help.name)` shows how")
    }
    return path
  }

  /// Takes an operand that must be there.
  mutating func operand(_ what: String) throws(Failure) -> String {
    guard let word = next(), !word.isEmpty else {
      throw Failure(.usage, "\(what) is missing; `kvdump help \(help.name)` shows how")
    }
    return word
  }

  /// Takes the rest.
  mutating func rest() -> [String] {
    defer { operands = [] }
    return Array(operands)
  }

  /// How many operands are left.
  var count: Int { operands.count }

  /// Rejects operands that no one has asked for.
  mutating func end() throws(Failure) {
    if let word = next() {
      throw Failure(
        .usage, "\(printable(word)) is one word too many; `kvdump help \(help.name)` shows what the command takes")
    }
  }
}
