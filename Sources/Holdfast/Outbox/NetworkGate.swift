/// What a drain makes of the network: how many attempts may be in flight at once, and from when on.
///
/// A pure value, that a drain keeps for its own life. After a way to the network has come back, each client waits for a
/// time of its own, tries with one entry, and doubles that with each success, so that a server is not run over by all at
/// once. An attempt of unknown fate halves it. While the monitor says that there is no network, one entry tries every
/// one to five minutes all the same: the monitor may be wrong.
struct NetworkGate: Hashable {
  /// How long clients spread their return.
  struct Spread: Hashable {
    var usual = Duration.seconds(5)
    var background = Duration.seconds(60)
  }

  private static let longestProbe = Duration.seconds(300)

  let limit: Int
  /// How many attempts may be in flight at once.
  private(set) var window: Int
  private var until: Int64 = 0
  private var backgroundUntil: Int64 = 0
  private var failures = 0
  private var isSaidToBeGone = false

  init(limit: Int) {
    self.limit = limit
    window = limit
  }

  /// From when on an entry may go.
  func opening(for priority: DeliveryPriority) -> Int64 {
    priority == .background ? max(until, backgroundUntil) : until
  }

  /// An attempt came back: what does its outcome say of the network?
  mutating func heard(
    _ outcome: SendOutcome, at now: Int64, _ schedule: RetrySchedule, using random: inout some RandomNumberGenerator
  ) {
    switch outcome {
    case .notSent(_, .network), .postponed(_, .network, _):
      failures += 1
      window = 1
      var wait = min(schedule.delay(afterFailure: failures, using: &random), Self.longestProbe)
      if isSaidToBeGone { wait = Self.probeInterval(using: &random) }
      if case .postponed(_, _, let pause?) = outcome { wait = pause.retryAfter.lengthened(using: &random) }
      until = max(until, now + wait.milliseconds)
    case .ambiguous:
      window = max(1, window / 2)
    case .delivered, .permanent, .transient, .postponed:
      failures = 0
      isSaidToBeGone = false
      window = window > limit / 2 ? limit : window * 2
    case .notSent, .interrupted, .unsendable:
      break
    }
  }

  /// The monitor has spoken.
  mutating func heard(
    isReachable: Bool, at now: Int64, _ spread: Spread, using random: inout some RandomNumberGenerator
  ) {
    if !isReachable {
      if isSaidToBeGone { return }
      isSaidToBeGone = true
      window = 1
      until = max(until, now + Self.probeInterval(using: &random).milliseconds)
    } else if isSaidToBeGone || until > now {
      isSaidToBeGone = false
      failures = 0
      window = 1
      until = now + spread.usual.drawn(using: &random).milliseconds
      backgroundUntil = now + spread.background.drawn(using: &random).milliseconds
    }
  }

  private static func probeInterval(using random: inout some RandomNumberGenerator) -> Duration {
    .seconds(60) + Duration.seconds(240).drawn(using: &random)
  }
}
