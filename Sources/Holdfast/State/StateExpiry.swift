/// How long the fields of a record last.
///
/// A record whose time is over is a miss on every read path, and the next update begins a new one. It is deleted by
/// ``StateStore/purge(limit:in:)``.
public struct StateExpiry: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case unchanged, never
    case after(Duration)
  }

  let kind: Kind

  /// As before; a new record never expires.
  public static let unchanged = StateExpiry(kind: .unchanged)
  /// Never.
  public static let never = StateExpiry(kind: .never)
  /// After some time, counted from the update by the system's clock; at once if that is zero or less.
  public static func after(_ duration: Duration) -> StateExpiry { StateExpiry(kind: .after(duration)) }

  /// The time of expiry after an update, in milliseconds since 1970; 0 for never.
  func date(after old: Int64, at now: Int64) -> Int64 {
    switch kind {
    case .unchanged: old
    case .never: 0
    case .after(let duration):
      max(1, Self.sum(now, duration.milliseconds))
    }
  }

  /// A clock that was set far enough leaves no room for a later time.
  private static func sum(_ now: Int64, _ wait: Int64) -> Int64 {
    let (sum, isTooFar) = now.addingReportingOverflow(wait)
    return isTooFar ? .max : sum
  }

  static func isOver(_ expiresAt: Int64, at now: Int64) -> Bool { expiresAt != 0 && expiresAt <= now }
}

/// The times between which no record of several begins or ceases to be over, in milliseconds since 1970; 0 for none.
struct StateTimes {
  /// When the last of those that are over was. The clock may be set back before it.
  private(set) var lastEnd: Int64 = 0
  /// When the first of the others will be.
  private(set) var nextEnd: Int64 = 0

  var isEmpty: Bool { lastEnd == 0 && nextEnd == 0 }

  func contains(_ now: Int64) -> Bool { lastEnd <= now && !StateExpiry.isOver(nextEnd, at: now) }

  /// Adds a record's time of expiry, of which 0 is never.
  mutating func note(_ end: Int64, at now: Int64) {
    if StateExpiry.isOver(end, at: now) {
      lastEnd = max(lastEnd, end)
    } else if end != 0 {
      nextEnd = nextEnd == 0 ? end : min(nextEnd, end)
    }
  }
}
