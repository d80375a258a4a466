import LMDB

/// The clock of the outbox: it never goes back, and nobody can set it.
///
/// While the system runs it follows the clock that counts since the start of the system, so that a step of the wall
/// clock, however far, changes nothing. Over a restart only the wall clock knows how long it took: a step back merely
/// stops the outbox's time for once, a step forward makes retries come early. What ages is not believed to have aged by
/// more than a day over one restart, so that a wrong wall clock cannot expire everything at once.
///
/// A pure value. It starts at the wall clock's time, and so is close to it for as long as that is right. Stored as
/// ```
/// u8   format, 1          i64  time       i64  time that does not count as age
/// i64  wall clock         i64  time since the start of the system
/// the name of the run of the system, in UTF-8
/// ```
struct OutboxClock: Hashable {
  /// What the system's clocks say at one moment.
  struct Moment: Hashable {
    var wall: Int64
    var uptime: Int64
    var boot: String
  }

  /// The most that a restart adds to an age, in milliseconds.
  static let believedOverRestart: Int64 = 86_400_000
  /// Times beyond this are damage; it keeps sums far from overflow.
  private static let end: Int64 = 1 << 60

  /// When it was last read.
  private(set) var anchor: Moment
  /// Milliseconds, on a scale of its own that starts near the wall clock's.
  private(set) var time: Int64
  /// How much of the time does not count as age.
  private var doubted: Int64 = 0

  init(startingAt moment: Moment) {
    anchor = moment
    time = min(max(0, moment.wall), Self.end)
  }

  /// The time on the scale of ages.
  var age: Int64 { time - doubted }

  mutating func advance(to moment: Moment) {
    let isOneRun = moment.boot == anchor.boot && !moment.boot.isEmpty
    let passed =
      isOneRun
      ? moment.uptime.subtractingReportingOverflow(anchor.uptime)
      : moment.wall.subtractingReportingOverflow(anchor.wall)
    let elapsed = passed.overflow ? 0 : min(max(0, passed.partialValue), Duration.longestWait.milliseconds)
    time = min(time + elapsed, Self.end)
    if !isOneRun { doubted = min(doubted + max(0, elapsed - Self.believedOverRestart), time) }
    anchor = moment
  }

  /// The wall clock's time of an instant of this clock, for people to read.
  func wall(of instant: Int64) -> Int64 {
    let (distance, isTooFar) = instant.subtractingReportingOverflow(time)
    let (wall, isBeyond) = anchor.wall.addingReportingOverflow(distance)
    return isTooFar || isBeyond ? instant : wall
  }
}

extension OutboxClock {
  private static let format: UInt8 = 1

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    for number in [time, doubted, anchor.wall, anchor.uptime] { writer.append(number) }
    writer.append(text: anchor.boot)
    return writer.bytes
  }

  /// Reads a clock, that probably is of the run called `boot`.
  init(decoding bytes: Span<UInt8>, probablyOf boot: String = "") throws(Malformed) {
    guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
    time = try bytes.load(Int64.self, at: 1)
    doubted = try bytes.load(Int64.self, at: 9)
    anchor = Moment(
      wall: try bytes.load(Int64.self, at: 17), uptime: try bytes.load(Int64.self, at: 25),
      boot: try bytes.slice(33, bytes.count - 33).text(probably: boot))
    guard (0...Self.end).contains(time), (0...time).contains(doubted) else { throw Malformed("its time cannot be") }
  }
}

extension SystemTime {
  /// What the clocks say now.
  var moment: OutboxClock.Moment { OutboxClock.Moment(wall: now(), uptime: uptime(), boot: boot()) }
}

extension Outbox {
  private static let clockName = "clock"

  /// The outbox's time now. A clock that is missing or damaged starts anew: due times then are off once, nothing is lost.
  func clock(in transaction: borrowing ReadTransaction) throws(StoreError) -> OutboxClock {
    let moment = time.moment
    return try clock(at: moment, in: transaction) ?? OutboxClock(startingAt: moment)
  }

  /// The outbox's time now; starts a clock that is missing or damaged.
  func startedClock(in transaction: inout WriteTransaction) throws(StoreError) -> OutboxClock {
    if let memo = transaction.memo as? ClockMemo { return memo.clock }
    let moment = time.moment
    let found = try clock(at: moment, in: transaction.reader)
    let clock = found ?? OutboxClock(startingAt: moment)
    if found == nil { try set(clock, in: &transaction) }
    transaction.memo = ClockMemo(clock)
    return clock
  }

  /// The time at which a transaction has begun to add entries, which all of them have.
  private final class ClockMemo {
    let clock: OutboxClock

    init(_ clock: OutboxClock) { self.clock = clock }
  }

  private func clock(
    at moment: OutboxClock.Moment, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> OutboxClock? {
    guard let bytes = try transaction.value(forKey: Self.clockName, in: metaRows),
      var clock = try? OutboxClock(decoding: bytes, probablyOf: moment.boot)
    else { return nil }
    clock.advance(to: moment)
    return clock
  }

  /// Keeps how far the clock has come, so that it does not fall back over a restart.
  func set(_ clock: OutboxClock, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.set(clock.encoded, forKey: Self.clockName, in: metaRows)
  }
}
