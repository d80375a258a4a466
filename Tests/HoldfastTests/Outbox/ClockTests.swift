import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct ClockTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  private static let year: Int64 = 365 * 86_400_000

  @Test(
    "T4: a step of the wall clock within a boot changes nothing",
    arguments: [
      -year, -30 * 86_400_000, -1, 30 * 86_400_000, year,
    ] as [Int64])
  func aStepOfTheWallClockChangesNothing(_ step: Int64) async throws {
    let store = try open()
    try store.enqueue("later") { $0.delay = .seconds(600) }
    try store.enqueue("aging", lane: "b") { ($0.delay, $0.maxAge) = (.seconds(300), .seconds(400)) }
    time.setWall(by: step)
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.isEmpty, "nothing comes early")
    time.pass(.seconds(300))
    let report = try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.map(\.text) == ["aging"] && report.died == 0, "nothing is stuck or expired")
    time.pass(.seconds(300))
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.map(\.text) == ["aging", "later"])
  }

  @Test("T4: a step between two runs of one boot changes nothing", arguments: [-year, year] as [Int64])
  func aStepBetweenRunsChangesNothing(_ step: Int64) async throws {
    do {
      let store = try open()
      try store.enqueue("1") { ($0.delay, $0.maxAge) = (.seconds(600), .seconds(3600)) }
      try await store.outbox.drain(with: ScriptedSender(), options: .init(goal: .once))
    }
    time.setWall(by: step)
    let store = try open()
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.isEmpty)
    time.pass(.seconds(600))
    try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(sender.sent.count == 1)
  }

  @Test(
    "T4: over a restart with a clock that is wrong, nothing is stuck for longer than it had to wait",
    arguments: [
      -year, 0, 30 * 86_400_000, year,
    ] as [Int64])
  func aRestartWithAWrongClock(_ step: Int64) async throws {
    let store = try open()
    try store.enqueue("1") { $0.delay = .seconds(600) }
    try store.enqueue("2", lane: "b") { ($0.delay, $0.maxAge) = (.seconds(60), .seconds(3 * 86_400)) }
    time.restart()
    time.setWall(by: step)
    let sender = ScriptedSender()
    let first = try await store.outbox.drain(with: sender, options: .init(goal: .once))
    time.pass(.seconds(600))
    let second = try await store.outbox.drain(with: sender, options: .init(goal: .once))
    #expect(first.delivered + second.delivered == 2)
    #expect(first.died + second.died == 0, "no mass expiry")
  }

  @Test(
    "T4: random steps, restarts and naps: the clock never goes back, and is never early within a boot",
    arguments: 1...10)
  func theClockIsSound(_ seed: UInt64) throws {
    var random = Seeded(seed)
    var moment = OutboxClock.Moment(wall: 1_700_000_000_000, uptime: 1000, boot: "0")
    var clock = OutboxClock(startingAt: moment)
    var bootTime: (clock: Int64, real: Int64) = (clock.time, 0)
    for step in 0..<200 {
      let before = clock
      let nap = Int64.random(in: 0...1_000_000, using: &random)
      moment.uptime += nap
      moment.wall += nap
      bootTime.real += nap
      switch Int.random(in: 0..<10, using: &random) {
      case 0: moment.wall += [-Self.year, Self.year, -3_600_000, 3_600_000].randomElement(using: &random)!
      case 1:
        moment.boot = "after \(step)"
        moment.uptime = Int64.random(in: 0...5000, using: &random)
      default: break
      }
      clock.advance(to: moment)
      #expect(clock.time >= before.time && clock.age >= before.age)
      #expect(clock.age - before.age <= nap + OutboxClock.believedOverRestart)
      if moment.boot != before.anchor.boot {
        bootTime = (clock.time, 0)
      } else {
        #expect(clock.time - bootTime.clock == bootTime.real)
      }
      #expect(try OutboxClock(decoding: clock.encoded.span) == clock)
    }
  }

  @Test(
    arguments: [
      (Int64.min, Int64.max), (.max, .min), (.max, .max), (0, .min),
    ] as [(Int64, Int64)])
  func impossibleClocksDoNotTrap(_ wall: Int64, _ uptime: Int64) {
    var clock = OutboxClock(startingAt: .init(wall: wall, uptime: uptime, boot: ""))
    clock.advance(to: .init(wall: uptime, uptime: wall, boot: ""))
    clock.advance(to: .init(wall: wall, uptime: uptime, boot: "b"))
    clock.advance(to: .init(wall: uptime, uptime: wall, boot: "b"))
    #expect(clock.time >= 0 && clock.age >= 0)
    _ = clock.wall(of: .max)
    _ = clock.wall(of: .min)
  }

  @Test func aDamagedClockStartsAnew() async throws {
    let store = try open()
    try store.enqueue(["1"])
    try await store.write { t in try t.set([9], forKey: "clock", in: store.outbox.metaRows) }
    #expect(try await store.outbox.drain(with: ScriptedSender()).delivered == 1)
  }

  @Test func theSystemsClocksAnswer() {
    let moment = SystemTime.real.moment
    #expect(!moment.boot.isEmpty && moment.boot == SystemTime.real.boot())
    #expect(moment.uptime > 0 && moment.uptime <= SystemTime.real.uptime())
  }
}
