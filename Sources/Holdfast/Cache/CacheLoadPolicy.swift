/// How long a loaded value is used, and what happens when it is no longer fresh.
public struct CacheLoadPolicy: Sendable, Hashable {
  /// How long a value is fresh; `nil` is until it expires by ``options``.
  public var freshFor: Duration?
  /// For how long after that the old value is given out at once, while a new one is loaded in the background.
  public var staleWhileRevalidate: Duration
  /// For how long after it was fresh the old value is given out if loading a new one fails.
  public var staleIfError: Duration
  /// How eagerly a value is loaded anew before it is no longer fresh, so that not all who need it wait at the same
  /// moment; 0 is not at all, 1 fits most. The longer it took to load, the earlier (XFetch: Vattani, Chierichetti,
  /// Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015).
  public var earlyRefresh: Double
  /// How it is stored; its `freshFor`, `loadTime` and, if ``freshFor`` is given, its expiration are set by the rest.
  public var options: CacheEntryOptions

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - freshFor: How long a value is fresh.
  ///   - staleWhileRevalidate: For how long after that the old value is given out while a new one is loaded.
  ///   - staleIfError: For how long the old value is given out if loading fails.
  ///   - earlyRefresh: How eagerly a value is loaded anew before that.
  ///   - options: How it is stored.
  public init(
    freshFor: Duration? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
    earlyRefresh: Double = 0, options: CacheEntryOptions = CacheEntryOptions()
  ) {
    self.freshFor = freshFor
    self.staleWhileRevalidate = staleWhileRevalidate
    self.staleIfError = staleIfError
    self.earlyRefresh = earlyRefresh
    self.options = options
  }

  /// What to do with what is there.
  enum Step: Sendable, Hashable {
    /// It is fresh.
    case use
    /// It is given out, and a new one is loaded in the background.
    case useAndRefresh
    /// A new one is loaded; if that fails, what is there is given out if it may be.
    case load(orUse: Bool)
  }

  /// Decides what to do with a value.
  ///
  /// - Parameters:
  ///   - freshUntil: Until when it is fresh, in ms since 1970; zero is for as long as it is there.
  ///   - loadTime: How long it took to load, in ms.
  ///   - now: In ms since 1970.
  ///   - random: From 0 to 1.
  /// - Returns: What to do.
  func step(freshUntil: Int64, loadTime: UInt32, now: Int64, random: Double) -> Step {
    if freshUntil == 0 { return .use }
    if now < freshUntil {
      if earlyRefresh <= 0 { return .use }
      let head = Double(loadTime) * earlyRefresh * -naturalLogarithm(max(random, 1e-12))
      return Double(now) + head >= Double(freshUntil) ? .useAndRefresh : .use
    }
    if now - freshUntil < staleWhileRevalidate.milliseconds { return .useAndRefresh }
    return .load(orUse: now - freshUntil < staleIfError.milliseconds)
  }

  /// How a value is stored that took `loadTime` to load.
  func entryOptions(loadTime: Duration) -> CacheEntryOptions {
    var options = options
    options.loadTime = loadTime
    if let freshFor {
      options.freshFor = freshFor
      options.expiration = .after(freshFor + max(staleWhileRevalidate, staleIfError))
    }
    return options
  }
}

/// The natural logarithm of a positive number to about nine digits; the C library's is not at hand.
private func naturalLogarithm(_ x: Double) -> Double {
  // ln m = 2 artanh((m - 1) / (m + 1)) for the significand m, from 1 to 2.
  let t = (x.significand - 1) / (x.significand + 1)
  var sum = 0.0
  for k in stride(from: 17.0, through: 1, by: -2) { sum = sum * t * t + 1 / k }
  return 2 * t * sum + Double(x.exponent) * 0.693_147_180_559_945_3
}
