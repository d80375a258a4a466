import LMDB

/// A delivery state is stored as
/// ```
/// u8   format, 2          u8   phase         u16  attempts that may have reached the server
/// u16  failures since that surely did not reach it
/// u16  attempts that do not count towards giving up
/// u32  generation, raised by each claim      u64  epoch of the last claim
/// i64  earliest time of the next attempt
/// i64  end of the first attempt of unknown fate, or 0
/// i64  time of expiry on the scale of ages, or 0
/// u64  route              u8   priority      u8   recovery      u8   cause of the hold, or 0
/// u8   crashes            u8   1 if its cancellation was asked for
/// the reason of the last failure, in UTF-8
/// ```
/// Format 1 ended after the time of the next attempt, and is still read.
extension DeliveryState {
  private static let format: UInt8 = 2

  /// All but the reason.
  var head: ShortBytes {
    var writer = ShortBytes()
    writer.append(Self.format)
    writer.append(phase.rawValue)
    writer.append(attempts)
    writer.append(unsentFailures)
    writer.append(uncounted)
    writer.append(generation)
    writer.append(epoch)
    writer.append(notBefore)
    writer.append(ambiguousSince)
    writer.append(expiresAt)
    writer.append(route)
    writer.append(priority.rawValue)
    writer.append(recovery.rawValue)
    writer.append(holdCause?.rawValue ?? 0)
    writer.append(crashes)
    writer.append(UInt8(isCancelRequested ? 1 : 0))
    return writer
  }

  /// The reason, as long as it is kept.
  var tail: String { lastError.cut(toBytes: 1000) }

  init(decoding bytes: Span<UInt8>) throws(Malformed) {
    let format = try bytes.load(UInt8.self, at: 0)
    guard (1...Self.format).contains(format) else { throw Malformed("its format is unknown") }
    guard let phase = Phase(rawValue: try bytes.load(UInt8.self, at: 1)) else {
      throw Malformed("its phase is unknown")
    }
    self.init(notBefore: try bytes.load(Int64.self, at: 20))
    guard (0...(1 << 61)).contains(notBefore) else { throw Malformed("its time cannot be") }
    self.phase = phase
    attempts = try bytes.load(UInt16.self, at: 2)
    unsentFailures = try bytes.load(UInt16.self, at: 4)
    uncounted = try bytes.load(UInt16.self, at: 6)
    generation = try bytes.load(UInt32.self, at: 8)
    epoch = try bytes.load(UInt64.self, at: 12)
    var length = 28
    if format == 1 {
      if phase == .held { holdCause = .unfit }
    } else {
      length = 57
      ambiguousSince = try bytes.load(Int64.self, at: 28)
      expiresAt = try bytes.load(Int64.self, at: 36)
      route = try bytes.load(UInt64.self, at: 44)
      guard let priority = DeliveryPriority(rawValue: try bytes.load(UInt8.self, at: 52)),
        let recovery = RecoveryPolicy(rawValue: try bytes.load(UInt8.self, at: 53)), ambiguousSince >= 0
      else { throw Malformed("a policy in it is unknown") }
      self.priority = priority
      self.recovery = recovery
      holdCause = HoldCause(rawValue: try bytes.load(UInt8.self, at: 54))
      crashes = try bytes.load(UInt8.self, at: 55)
      isCancelRequested = try bytes.load(UInt8.self, at: 56) & 1 != 0
    }
    lastError = String(repairing: try bytes.slice(length, bytes.count - length))
  }
}
