extension HTTPReply {
  /// The longest pause that a server can ask for.
  static let longestPause = Duration.seconds(86_400)

  /// How long the server asks to wait (RFC 9110, section 10.2.3), at most a day; `nil` if it does not ask, or not in a
  /// form that can be read.
  ///
  /// A date is compared with the `Date` of the same reply, so that a wrong clock here does no harm. One that has passed
  /// is no wait.
  public var retryAfter: Duration? {
    guard let text = header("Retry-After")?.trimmed, !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      // More digits than a number holds still mean "very long".
      let seconds = Int64(text) ?? .max
      return seconds > 0 ? min(.seconds(min(seconds, 86_400)), Self.longestPause) : nil
    }
    guard let date = HTTPDate(text), let now = header("Date").flatMap({ HTTPDate($0.trimmed) }) else { return nil }
    let seconds = date.seconds - now.seconds
    return seconds > 0 ? min(.seconds(seconds), Self.longestPause) : nil
  }
}

extension String {
  /// The text without blanks and tabs around it.
  var trimmed: String {
    guard let first = firstIndex(where: { $0 != " " && $0 != "\t" }),
      let last = lastIndex(where: { $0 != " " && $0 != "\t" })
    else { return "" }
    return String(self[first...last])
  }
}
