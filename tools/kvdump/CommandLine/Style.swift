/// Colours for people at a terminal, in the order of its escape codes.
enum Style: Int, Sendable {
  case bold = 1
  case red = 31
  case green = 32
  case yellow = 33
  case cyan = 36

  func apply(to text: String) -> String { text.isEmpty ? text : "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }

  /// When colours are used.
  enum Choice: String, CaseIterable, Sendable {
    /// On a terminal, unless NO_COLOR is set or the terminal is dumb; elsewhere only with CLICOLOR_FORCE.
    case auto
    case always
    case never

    /// Whether they are used, by the variables of the environment (no-color.org, bixense.com/clicolors).
    func isColored(onTerminal isTerminal: Bool, _ variables: [String: String]) -> Bool {
      switch self {
      case .always: return true
      case .never: return false
      case .auto:
        if variables["NO_COLOR"]?.isEmpty == false { return false }
        if let force = variables["CLICOLOR_FORCE"], !force.isEmpty, force != "0" { return true }
        return isTerminal && variables["TERM"] != "dumb"
      }
    }
  }
}
