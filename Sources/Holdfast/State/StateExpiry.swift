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

  /// The earlier of two times of expiry, of which 0 is never.
  static func earlier(_ a: Int64, _ b: Int64) -> Int64 { a == 0 || b == 0 ? max(a, b) : min(a, b) }

  static func isOver(_ expiresAt: Int64, at now: Int64) -> Bool { expiresAt != 0 && expiresAt <= now }
}
