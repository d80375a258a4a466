/// When an entry expires; times in ms since 1970.
@usableFromInline
struct EntryTimes: Sendable {
  /// From when on it is gone.
  @usableFromInline var expiresAt: Int64
  /// For how long it stays without being asked for, in ms.
  @usableFromInline var idleLimit: Int64
  /// When it was written or asked for last.
  @usableFromInline var accessed: Int64

  /// Times of an entry that never expires, from before anybody noted when it was asked for.
  @inlinable static var untimed: EntryTimes { EntryTimes(accessed: .max) }

  @inlinable
  init(expiresAt: Int64 = .max, idleLimit: Int64 = .max, accessed: Int64) {
    self.expiresAt = expiresAt
    self.idleLimit = idleLimit
    self.accessed = accessed
  }

  /// The end of an entry that no other limit of age ends before.
  func end(ageLimit: Int64) -> Int64 {
    min(expiresAt, end(idleLimit: min(idleLimit, ageLimit)))
  }

  /// The end of an entry that may not be left alone longer than that.
  func end(idleLimit: Int64) -> Int64 {
    let (last, overflow) = accessed.addingReportingOverflow(idleLimit)
    return overflow ? idleLimit > 0 ? .max : .min : last
  }

  /// Whether it is gone. A clock that was set back makes nothing expire.
  func isExpired(at now: Int64, ageLimit: Int64) -> Bool { end(ageLimit: ageLimit) <= now }
}
