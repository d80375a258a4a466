/// How long to wait after a failure, and when to give up.
///
/// Exponential backoff, capped first and then fully jittered ("Exponential Backoff And Jitter", AWS Architecture Blog,
/// 2015): the wait is drawn evenly from zero to `min(cap, base * 2^(n-1))`, so that clients which fail together do not
/// return together.
public struct RetrySchedule: Sendable, Hashable {
  /// The bound of the first wait.
  public var base: Duration
  /// The bound of all waits.
  public var cap: Duration
  /// The shortest wait.
  public var floor: Duration
  /// After how many attempts that may have reached the server an entry is given up.
  public var maxAttempts: Int

  /// Makes a schedule.
  ///
  /// - Parameters:
  ///   - base: The bound of the first wait.
  ///   - cap: The bound of all waits.
  ///   - floor: The shortest wait.
  ///   - maxAttempts: After how many attempts to give up.
  public init(
    base: Duration = .seconds(2), cap: Duration = .seconds(900), floor: Duration = .milliseconds(250),
    maxAttempts: Int = 25
  ) {
    self.base = base
    self.cap = cap
    self.floor = floor
    self.maxAttempts = maxAttempts
  }

  /// The wait after the `n`-th failure in a row.
  ///
  /// - Parameters:
  ///   - n: How many attempts have failed, from 1.
  ///   - random: Where the jitter comes from.
  /// - Returns: A duration between ``floor`` and the bound of that failure.
  public func delay(afterFailure n: Int, using random: inout some RandomNumberGenerator) -> Duration {
    let cap = cap.milliseconds
    var bound = base.milliseconds
    for _ in 1..<max(1, n) where bound < cap { bound *= 2 }
    let jittered = Int64.random(in: 0...min(bound, cap), using: &random)
    return .milliseconds(max(floor.milliseconds, jittered))
  }
}
