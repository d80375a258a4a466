import Foundation

extension HTTPReply {
  /// How long the server asks to wait (RFC 9110, section 10.2.3), at most a day.
  ///
  /// A date is compared with the reply's own `Date`, so that a wrong clock here does no harm. What is neither seconds
  /// nor a date, or lies in the past, is no wait.
  var retryAfter: Duration? {
    guard let text = header("Retry-After")?.trimmingCharacters(in: .whitespaces) else { return nil }
    let seconds: Double
    if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      seconds = Double(text) ?? 0
    } else if let date = Self.date(text), let now = header("Date").flatMap(Self.date) {
      seconds = date.timeIntervalSince(now)
    } else {
      return nil
    }
    return seconds > 0 ? .seconds(min(seconds, 86_400)) : nil
  }

  /// A date in one of the three forms of RFC 9110, section 5.6.7.
  private static func date(_ text: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    for format in ["EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy"] {
      formatter.dateFormat = format
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
