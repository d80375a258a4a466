extension DiskCache {
  /// How much a disk cache may hold; `nil` is no limit, and negative numbers are zero.
  public struct Limits: Sendable, Hashable {
    /// How many entries. Zero stores nothing.
    public var countLimit: Int?
    /// What all entries may cost together: their bytes, if nothing else is said of them. Zero stores nothing.
    public var costLimit: Int?
    /// How long an entry may go unused. (YYCache means the same by this name; how long it may live after it was written is
    /// ``DiskCache/Configuration/expiresAfter`` and ``CacheEntryOptions/expiration``.)
    public var ageLimit: Duration?
    /// How many bytes should stay free on the volume of the cache. Entries leave for that only where it frees
    /// something, so the cache never empties itself in vain.
    public var freeDiskSpaceLimit: Int?
    /// What one entry may cost; `nil` is a quarter of ``costLimit``.
    public var entryCostLimit: Int?

    /// No limits.
    public static let none = Limits()

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - countLimit: How many entries.
    ///   - costLimit: What all entries may cost together.
    ///   - ageLimit: How long an entry may go unused.
    ///   - freeDiskSpaceLimit: How many bytes should stay free on the volume.
    ///   - entryCostLimit: What one entry may cost.
    public init(
      countLimit: Int? = nil, costLimit: Int? = nil, ageLimit: Duration? = nil, freeDiskSpaceLimit: Int? = nil,
      entryCostLimit: Int? = nil
    ) {
      self.countLimit = countLimit
      self.costLimit = costLimit
      self.ageLimit = ageLimit
      self.freeDiskSpaceLimit = freeDiskSpaceLimit
      self.entryCostLimit = entryCostLimit
    }

    /// What one entry may cost, by default or by wish.
    var effectiveEntryCostLimit: Int? { entryCostLimit ?? costLimit.map { $0 / 4 } }

    /// The age limit in ms; the highest number for none.
    var ageLimitInMilliseconds: Int64 { ageLimit.map { max(0, $0.milliseconds) } ?? .max }

    /// How old an entry's place in the order of use must be before a read moves it, in ms: a minute, or an eighth of
    /// the age limit, if that is less.
    static func touchInterval(_ ageLimit: Int64) -> Int64 { min(60_000, max(1, ageLimit / 8)) }
  }
}
