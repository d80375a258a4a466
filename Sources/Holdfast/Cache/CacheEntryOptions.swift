/// How one entry is kept; the defaults are what most entries need.
public struct CacheEntryOptions: Sendable, Hashable {
  /// When an entry expires.
  public enum Expiration: Sendable, Hashable {
    /// As the configuration of the cache says.
    case standard
    /// Never.
    case never
    /// A while after it was written. Zero or less: at once, so that nothing is stored, and what was there is removed.
    case after(Duration)
  }

  /// When it expires.
  public var expiration: Expiration
  /// How long those who would load it anew take it for fresh; `nil` is until it expires. Other reads get it until then.
  public var freshFor: Duration?
  /// What it counts against `costLimit`, not negative; `nil` is the length of its bytes.
  public var cost: Int?
  /// Names under which it can be removed together with others: at most 255, each of 1 to 255 bytes.
  public var tags: [String]
  /// How long it stays when the disk half is full.
  public var priority: CachePriority
  /// A few bytes beside the value, which can be read without it; at most 64 KiB.
  public var extendedData: [UInt8]
  /// How long it took to make the value; decides how early it is made anew before it expires.
  public var loadTime: Duration
  /// When it was last used, in ms since 1970, for entries of another cache; `nil` is now.
  package var lastAccess: Int64?

  /// Makes options.
  ///
  /// - Parameters:
  ///   - expiration: When the entry expires.
  ///   - freshFor: How long those who would load it anew take it for fresh.
  ///   - cost: What it counts against `costLimit`; `nil` is the length of its bytes.
  ///   - tags: Names under which it can be removed together with others.
  ///   - priority: How long it stays when the disk half is full.
  ///   - extendedData: A few bytes beside the value.
  ///   - loadTime: How long it took to make the value.
  public init(
    expiration: Expiration = .standard, freshFor: Duration? = nil, cost: Int? = nil, tags: [String] = [],
    priority: CachePriority = .normal, extendedData: [UInt8] = [], loadTime: Duration = .zero
  ) {
    self.expiration = expiration
    self.freshFor = freshFor
    self.cost = cost
    self.tags = tags
    self.priority = priority
    self.extendedData = extendedData
    self.loadTime = loadTime
  }
}

/// What became of a value that was given to a cache.
public enum CacheStoreResult: Sendable, Hashable {
  /// It is there.
  case stored
  /// It is larger than one entry may be, or there is no more room for pinned entries. What was there before under its
  /// key is gone, so that nobody reads an old value for it.
  case rejected
  /// Its time was over before it was written. What was there before under its key is gone.
  case expired
  /// Another value than the expected one is there, and stays.
  case conflict
}
