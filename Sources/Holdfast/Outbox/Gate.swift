import LMDB

/// A closed gate of a host or of credentials: whatever goes through it waits, then one entry may try.
///
/// A pure value. An open gate has none. Stored under the gate's kind (u8) and the 16-byte hash of its name as
/// ```
/// u8   format, 1          u16  failures in a row
/// i64  the time until which nothing goes through
/// its name, in UTF-8
/// ```
struct Gate: Hashable {
  var failures: UInt16 = 0
  /// Nothing goes through before; one at a time goes through after, until one succeeds.
  var until: Int64 = 0
  var name: String

  init(name: String) { self.name = name }

  /// Somebody could not get through. A pause that the server asked for is kept, and lengthened by up to a tenth.
  mutating func close(
    at now: Int64, atLeast pause: Duration?, _ schedule: RetrySchedule,
    using random: inout some RandomNumberGenerator
  ) {
    failures = failures == .max ? .max : failures + 1
    let wait =
      pause?.retryAfter.lengthened(using: &random)
      ?? schedule.delay(afterFailure: Int(failures), using: &random)
    // What several attempts in flight were told does not shorten the wait.
    until = max(until, now + wait.milliseconds)
  }
}

extension Gate {
  private static let format: UInt8 = 1

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(failures)
    writer.append(until)
    writer.append(text: name)
    return writer.bytes
  }

  init(decoding bytes: Span<UInt8>) throws(Malformed) {
    guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
    failures = try bytes.load(UInt16.self, at: 1)
    until = try bytes.load(Int64.self, at: 3)
    name = try bytes.slice(11, bytes.count - 11).text()
  }
}
