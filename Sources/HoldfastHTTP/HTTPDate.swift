/// A date in one of the three forms that recipients must accept (RFC 9110, section 5.6.7).
///
/// The day of the week is not looked at.
struct HTTPDate {
  /// Seconds since 1970.
  let seconds: Int64

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  init?(_ text: String) {
    let words = text.split(whereSeparator: { $0 == " " }).map(String.init)
    switch words.count {
    case 6 where words[5] == "GMT" && words[0].hasSuffix(","):  // Sun, 06 Nov 1994 08:49:37 GMT
      self.init(day: words[1], month: words[2], year: Self.number(words[3], digits: 4), time: words[4])
    case 4 where words[3] == "GMT" && words[0].hasSuffix(","):  // Sunday, 06-Nov-94 08:49:37 GMT
      let parts = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 3, let year = Self.number(parts[2], digits: 2) else { return nil }
      self.init(day: parts[0], month: parts[1], year: year < 70 ? 2000 + year : 1900 + year, time: words[2])
    case 5:  // Sun Nov  6 08:49:37 1994
      self.init(day: words[2], month: words[1], year: Self.number(words[4], digits: 4), time: words[3])
    default: return nil
    }
  }

  private init?(day: String, month: String, year: Int?, time: String) {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Self.number(String($0), digits: 2) }
    guard let year, let month = Self.months.firstIndex(of: month), clock.count == 3, let hour = clock[0],
      let minute = clock[1], let second = clock[2], let day = Self.number(day, digits: day.utf8.count),
      day >= 1, day <= Self.days(in: month + 1, of: year), hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = Self.days(before: year, month + 1, day)
    seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
  }

  private static func number(_ text: String, digits: Int) -> Int? {
    guard text.utf8.count == digits, (1...4).contains(digits), text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(text)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days from 1970 to a date of the Gregorian calendar, counted in years that begin in March, so that the leap day
  /// comes last.
  private static func days(before year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }
}
