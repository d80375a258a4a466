import LMDB

/// Where the delivery of one entry stands, and what each event makes of it.
///
/// A pure value: it knows no clock, lock or file. Times are those of the ``OutboxClock``.
struct DeliveryState: Hashable {
  enum Phase: UInt8 {
    /// Waits for its lane, or for its time.
    case waiting = 1
    /// Claimed by a drain: it may be on its way.
    case inFlight = 2
    /// Set aside; its lane waits.
    case held = 3
  }

  /// Why an entry was set aside, which says who may release it.
  enum HoldCause: UInt8 {
    /// This version of the app cannot read or send it, or its hook fails; the next drain may be of a better one.
    case unfit = 1
    /// It may have been sent, and must not be sent twice.
    case ambiguous = 2
    /// The process ended too often while it was in flight.
    case crashes = 3
  }

  /// What an event means for the entry.
  enum Action: Hashable {
    case finish
    case retry(at: Int64)
    case bury(reason: String)
    case hold(reason: String)
    case cancel
  }

  /// What the state goes by, besides itself.
  struct Rules {
    var schedule = RetrySchedule()
    /// After how many attempts the entry itself asks to be given up.
    var maxAttempts: Int?
    /// For how long the server recognises a repeat; `nil` is for ever.
    var idempotencyWindow: Duration?
  }

  /// How often the process may end during an attempt before the entry is suspected of it.
  static let crashLimit = 3

  var phase: Phase = .waiting
  /// How often it may have reached the server. Above zero, a repeat is possible.
  var attempts: UInt16 = 0
  var unsentFailures: UInt16 = 0
  /// How many of the attempts do not count towards giving up: cut short, or failed for reasons of others.
  var uncounted: UInt16 = 0
  /// How often the process has ended during an attempt, since the last one that came to an end.
  var crashes: UInt8 = 0
  var isCancelRequested = false
  var holdCause: HoldCause?
  /// Tells a late answer from the current one, with ``epoch``: it is never taken back.
  var generation: UInt32 = 0
  var epoch: UInt64 = 0
  var notBefore: Int64
  /// When the first attempt whose fate is unknown ended; zero if there is none.
  var ambiguousSince: Int64 = 0
  /// When it is too old, on the scale of ages; zero is never.
  var expiresAt: Int64 = 0
  // Copied from the entry, which need not be decoded for each step then.
  var route = Route.usual
  var priority = DeliveryPriority.normal
  var recovery = RecoveryPolicy.resend
  var lastError = ""

  init(notBefore: Int64) { self.notBefore = notBefore }

  mutating func claim(epoch: UInt64) {
    phase = .inFlight
    attempts = attempts.incremented
    generation &+= 1
    self.epoch = epoch
  }

  /// Whether the server must be asked before it is sent again.
  func mustReconcile(at now: Int64, _ rules: Rules) -> Bool {
    if ambiguousSince == 0 { return false }
    if recovery == .probe { return true }
    return rules.idempotencyWindow.map { now - ambiguousSince >= $0.milliseconds } ?? false
  }

  /// Takes the outcome of the claimed attempt.
  mutating func settle(
    _ outcome: SendOutcome, at now: Int64, _ rules: Rules, using random: inout some RandomNumberGenerator
  ) -> Action {
    crashes = 0
    if isCancelRequested {
      if case .delivered = outcome { return .finish }
      return .cancel
    }
    switch outcome {
    case .delivered: return .finish
    case .permanent(let reason): return .bury(reason: reason)
    case .transient(let reason, let pause):
      return failed(reason, pause, at: now, rules, using: &random)
    case .ambiguous(let reason):
      if doubt(reason, at: now) { return .hold(reason: reason) }
      return failed(reason, nil, at: now, rules, using: &random)
    case .interrupted:
      uncounted = uncounted.incremented
      if doubt("the drain was cancelled during an attempt", at: now) { return .hold(reason: lastError) }
      return retry(lastError, at: now)
    case .postponed(let reason, let gate, let pause):
      unsentFailures = 0
      uncounted = uncounted.incremented
      // Behind a closed gate it waits without being punished itself.
      if gate != nil { return retry(reason, at: now) }
      let wait = max(rules.schedule.delay(afterFailure: Int(uncounted), using: &random), pause?.retryAfter ?? .zero)
      return retry(reason, at: now + wait.milliseconds)
    case .notSent(let reason, let gate):
      takeBackAttempt()
      unsentFailures = unsentFailures.incremented
      if gate != nil { return retry(reason, at: now) }
      return retry(
        reason, at: now + rules.schedule.delay(afterFailure: Int(unsentFailures), using: &random).milliseconds)
    case .unsendable(let reason):
      takeBackAttempt()
      hold(reason, .unfit)
      return .hold(reason: reason)
    }
  }

  private mutating func failed(
    _ reason: String, _ pause: Duration?, at now: Int64, _ rules: Rules,
    using random: inout some RandomNumberGenerator
  ) -> Action {
    unsentFailures = 0
    if Int(attempts) - Int(uncounted) >= min(maxAttempts(rules), 50_000) {
      return .bury(reason: "gave up after \(attempts) attempts; the last failed with: \(reason)")
    }
    var wait = rules.schedule.delay(afterFailure: Int(attempts), using: &random)
    if let pause { wait = max(wait, pause.retryAfter.lengthened(using: &random)) }
    return retry(reason, at: now + wait.milliseconds)
  }

  private func maxAttempts(_ rules: Rules) -> Int { rules.maxAttempts ?? rules.schedule.maxAttempts }

  private mutating func retry(_ reason: String, at time: Int64) -> Action {
    phase = .waiting
    notBefore = time
    lastError = reason
    return .retry(at: time)
  }

  private mutating func takeBackAttempt() { attempts = attempts == 0 ? 0 : attempts - 1 }

  /// Notes that nobody knows what became of an attempt.
  ///
  /// - Returns: Whether the entry is held for that.
  private mutating func doubt(_ reason: String, at now: Int64) -> Bool {
    lastError = reason
    if ambiguousSince == 0 { ambiguousSince = max(1, now) }
    if recovery == .hold { hold(reason, .ambiguous) }
    return phase == .held
  }

  mutating func hold(_ reason: String, _ cause: HoldCause) {
    phase = .held
    holdCause = cause
    lastError = reason
  }

  /// It is held, and must not be taken for unsent later: its hook failed after the server had answered, or its state was
  /// lost.
  mutating func hold(inDoubt reason: String, at now: Int64) {
    if !doubt(reason, at: now) { hold(reason, .unfit) }
  }

  /// A new drain begins: what an earlier one left claimed may have been sent.
  ///
  /// - Returns: What becomes of it; `nil` if it stays as it is.
  mutating func recover(at now: Int64) -> Action? {
    switch phase {
    case .waiting: return nil
    case .held:
      if holdCause != .unfit { return nil }
      return release(at: now)
    case .inFlight:
      if isCancelRequested { return .cancel }
      uncounted = uncounted.incremented
      crashes = crashes == .max ? .max : crashes + 1
      if doubt("the process ended during an attempt", at: now) { return .hold(reason: lastError) }
      if crashes >= Self.crashLimit {
        hold("the process has ended during an attempt \(crashes) times in a row", .crashes)
        return .hold(reason: lastError)
      }
      return retry(lastError, at: now)
    }
  }

  /// It is no longer held.
  mutating func release(at now: Int64) -> Action {
    holdCause = nil
    crashes = 0
    return retry(lastError, at: now)
  }
}

extension UInt16 {
  /// One more, as far as that goes.
  fileprivate var incremented: UInt16 { self == .max ? .max : self + 1 }
}
