import LMDB

/// Where the time comes from, so that tests can set it.
struct SystemTime: Sendable {
  /// Milliseconds since 1970, by a clock that people and networks set.
  let now: @Sendable () -> Int64
  /// As ``now``, but possibly some milliseconds late, for what is asked so often that the clock itself is felt.
  let roughNow: @Sendable () -> Int64
  /// Milliseconds since the system was started, by a clock that nobody sets and that goes on in sleep.
  let uptime: @Sendable () -> Int64
  /// Names the run of the system that ``uptime`` counts in; empty if nobody knows.
  let boot: @Sendable () -> String
  /// Suspends the task; returns early, with an error, when it is cancelled.
  let sleep: @Sendable (Duration) async throws -> Void

  /// Takes the time from closures.
  ///
  /// - Parameters:
  ///   - now: Milliseconds since 1970.
  ///   - roughNow: As `now`, possibly late; `nil` for one that never is.
  ///   - uptime: Milliseconds since the system was started; `nil` for one whose wall clock is never set.
  ///   - boot: Names the run of the system.
  ///   - sleep: Suspends the task.
  init(
    now: @escaping @Sendable () -> Int64, roughNow: (@Sendable () -> Int64)? = nil,
    uptime: (@Sendable () -> Int64)? = nil, boot: @escaping @Sendable () -> String = { "one" },
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.roughNow = roughNow ?? now
    self.uptime = uptime ?? now
    self.boot = boot
    self.sleep = sleep
  }

  static let real = SystemTime(
    now: { WallClock.milliseconds() },
    roughNow: { WallClock.roughMilliseconds() },
    uptime: { BootClock.milliseconds() },
    boot: { BootClock.id },
    sleep: { try await Task.sleep(for: $0) })
}
