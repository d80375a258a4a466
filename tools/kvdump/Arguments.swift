/// The words of a command line, taken one by one.
struct Arguments {
  private var words: ArraySlice<String>

  init(_ words: [String]) { self.words = words[...] }

  mutating func next() -> String? { words.popFirst() }

  /// Takes the path that each command needs.
  mutating func path() throws(Failure) -> String {
    guard let path = next(), !path.isEmpty else {
      throw Failure(.usage, "name the directory of the store after the command; `kvdump help` shows how")
    }
    return path
  }

  /// Takes the second word of a command of two.
  mutating func expect(_ word: String, of command: String) throws(Failure) {
    guard next() == word else {
      throw Failure(.usage, "`\(command)` is followed by `\(word)`; `kvdump help` shows how")
    }
  }

  /// Takes the number after an option.
  mutating func number(after option: String) throws(Failure) -> Int {
    guard let word = next(), let number = Int(word), number >= 0 else {
      throw Failure(.usage, "\(option) needs a number, such as `\(option) 5`")
    }
    return number
  }

  /// Takes the rest.
  mutating func rest() -> [String] {
    defer { words = [] }
    return Array(words)
  }

  /// Rejects words that no one has asked for.
  mutating func end() throws(Failure) {
    if let word = next() {
      throw Failure(.usage, "\(printable(word)) is one word too many; `kvdump help` shows what the command takes")
    }
  }
}
