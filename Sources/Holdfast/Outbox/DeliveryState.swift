import LMDB

/// Where the delivery of one entry stands, and what each event makes of it.
///
/// A pure value: it knows no clock, lock or file. Stored as
/// ```
/// u8   format, 1          u8   phase         u16  attempts that may have reached the server
/// u16  failures since that surely did not reach it
/// u16  attempts that were cut short by a cancelled drain or the end of the process
/// u32  generation, raised by each claim      u64  epoch of the last claim
/// i64  earliest time of the next attempt, in milliseconds since 1970
/// the reason of the last failure, in UTF-8
/// ```
struct DeliveryState: Hashable {
  enum Phase: UInt8 {
    /// Waits for its lane, or for its time.
    case waiting = 1
    /// Claimed by a drain: it may be on its way.
    case inFlight = 2
    /// Set aside until the next drain; its lane waits.
    case held = 3
  }

  /// What a settled attempt means for the entry.
  enum Action: Hashable {
    case finish
    case retry(at: Int64)
    case bury(reason: String)
    case hold(reason: String)
  }

  var phase: Phase = .waiting
  /// How often it may have reached the server. Above zero, a repeat is possible.
  var attempts: UInt16 = 0
  var unsentFailures: UInt16 = 0
  /// How many of the attempts were cut short; these do not count towards giving up.
  var interruptions: UInt16 = 0
  /// Tells a late answer from the current one, with ``epoch``: it is never taken back.
  var generation: UInt32 = 0
  var epoch: UInt64 = 0
  var notBefore: Int64
  var lastError = ""

  init(notBefore: Int64) { self.notBefore = notBefore }

  mutating func claim(epoch: UInt64) {
    phase = .inFlight
    attempts = attempts == .max ? .max : attempts + 1
    generation &+= 1
    self.epoch = epoch
  }

  /// Takes the outcome of the claimed attempt.
  mutating func settle(
    _ outcome: SendOutcome, at now: Int64, _ schedule: RetrySchedule, using random: inout some RandomNumberGenerator
  ) -> Action {
    switch outcome {
    case .delivered: return .finish
    case .permanent(let reason): return .bury(reason: reason)
    case .transient(let reason, let pause):
      unsentFailures = 0
      if Int(attempts) - Int(interruptions) >= min(schedule.maxAttempts, 50_000) {
        return .bury(reason: "gave up after \(attempts) attempts; the last failed with: \(reason)")
      }
      let delay = schedule.delay(afterFailure: Int(attempts), using: &random)
      return retry(reason, at: now + max(delay, pause ?? .zero).milliseconds)
    case .ambiguous(let reason):
      return settle(.transient(reason: reason), at: now, schedule, using: &random)
    case .postponed(let reason, _, let pause):
      interrupt()
      let delay = schedule.delay(afterFailure: Int(interruptions), using: &random)
      return retry(reason, at: now + max(delay, pause ?? .zero).milliseconds)
    case .interrupted:
      interrupt()
      return retry("the drain was cancelled during an attempt", at: now)
    case .unsendable(let reason):
      attempts = attempts == 0 ? 0 : attempts - 1
      hold(reason)
      return .hold(reason: reason)
    case .notSent(let reason, _):
      attempts = attempts == 0 ? 0 : attempts - 1
      unsentFailures = unsentFailures == .max ? .max : unsentFailures + 1
      return retry(
        reason, at: now + schedule.delay(afterFailure: Int(unsentFailures), using: &random).milliseconds)
    }
  }

  private mutating func retry(_ reason: String, at time: Int64) -> Action {
    phase = .waiting
    notBefore = time
    lastError = reason
    return .retry(at: time)
  }

  /// A new drain begins: what an earlier one left claimed may have been sent, and is sent again under the same key.
  mutating func recover(at now: Int64) {
    if phase == .inFlight {
      interrupt()
      lastError = "the process ended during an attempt"
    }
    phase = .waiting
    notBefore = now
  }

  private mutating func interrupt() { interruptions = interruptions == .max ? .max : interruptions + 1 }

  mutating func hold(_ reason: String) {
    phase = .held
    lastError = reason
  }
}

extension DeliveryState {
  private static let format: UInt8 = 1

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(phase.rawValue)
    writer.append(attempts)
    writer.append(unsentFailures)
    writer.append(interruptions)
    writer.append(generation)
    writer.append(epoch)
    writer.append(notBefore)
    writer.append(bytes: Array(lastError.utf8.prefix(1000)))
    return writer.bytes
  }

  init(decoding bytes: Span<UInt8>) throws(Malformed) {
    guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
    guard let phase = Phase(rawValue: try bytes.load(UInt8.self, at: 1)) else {
      throw Malformed("its phase is unknown")
    }
    self.phase = phase
    attempts = try bytes.load(UInt16.self, at: 2)
    unsentFailures = try bytes.load(UInt16.self, at: 4)
    interruptions = try bytes.load(UInt16.self, at: 6)
    generation = try bytes.load(UInt32.self, at: 8)
    epoch = try bytes.load(UInt64.self, at: 12)
    notBefore = try bytes.load(Int64.self, at: 20)
    lastError = String(decoding: [UInt8](copying: try bytes.slice(28, bytes.count - 28)), as: UTF8.self)
  }
}

extension Duration {
  /// The longest wait that is reckoned with; keeps sums of times far from overflow.
  static let longestWait = Duration.seconds(10 * 365 * 86_400)

  /// Whole milliseconds, rounded up, so that a wait is never cut short; from zero to ``longestWait``.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = min(max(self, .zero), Self.longestWait).components
    return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
  }
}
