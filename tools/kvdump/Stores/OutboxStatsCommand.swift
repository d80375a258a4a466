import Holdfast
import LMDBFile

/// `outbox stats PATH`: the backlog by state, age, kind and lane.
struct OutboxStatsCommand: Command {
  static let help = Help(
    "outbox stats", "PATH",
    "sums up the outbox: states and ages, who drains it, pauses, kinds, lanes, and failures",
    options: [Clock.option, .init("--top", value: "N", "so many kinds, lanes and errors, 10 without")] + Help.reading,
    example: "kvdump outbox stats .build/quickstart-backlog")

  private let reading: Reading
  private let now: Int64
  private let top: Int

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    now = try Clock.now(arguments)
    top = try arguments.number("--top") ?? 10
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let outbox = try OutboxReader(reading, snapshot)
      let backlog = try OutboxBacklog(outbox, now: now) { (done) throws(Failure) in
        try context.progress.step("\(done) entries")
      }
      try context.output.table(
        OutboxReader.states.map { state in
          let counts = backlog.ages[state]?.counts ?? AgeBuckets().counts
          return [state] + counts.map(String.init) + ["\(counts.reduce(0, +))"]
        }, under: ["STATE"] + AgeBuckets.titles + ["ALL"], right: Set(1...AgeBuckets.titles.count + 1))
      try context.output.line("\(count(backlog.total, "entry", "entries")), \(size(backlog.bytes)) of payload")
      if let drain = outbox.drain() { try context.output.line("\(drain)") }
      let barriers = try outbox.barriers()
      if !barriers.isEmpty { try context.output.line("held back:") }
      for barrier in barriers { try context.output.line("  \(barrier)") }
      for (title, counts) in [("kinds", backlog.kinds), ("lanes", backlog.lanes), ("errors", backlog.errors)]
      where !counts.isEmpty {
        try context.output.line("\(title):")
        let rows = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(top)
        try context.output.table(rows.map { ["  \($0.value)", printable($0.key, limit: 80)] }, right: [0])
      }
    }
  }
}

/// How many there are of each age.
struct AgeBuckets: Sendable {
  /// The ends of the buckets in milliseconds; the last has none.
  private static let ends: [Int64] = [60_000, 3_600_000, 86_400_000, 7 * 86_400_000]
  static let titles = ["< 1 MIN", "< 1 H", "< 1 D", "< 7 D", "OLDER"]

  private(set) var counts = [0, 0, 0, 0, 0]
  private(set) var bytes = [0, 0, 0, 0, 0]

  mutating func add(age: Int64, bytes size: Int = 0) {
    let index = Self.ends.firstIndex { age < $0 } ?? Self.ends.count
    counts[index] += 1
    bytes[index] += size
  }
}

/// What is in an outbox, summed up.
struct OutboxBacklog {
  private(set) var ages: [String: AgeBuckets] = [:]
  private(set) var kinds: [String: Int] = [:]
  private(set) var lanes: [String: Int] = [:]
  private(set) var errors: [String: Int] = [:]
  private(set) var total = 0
  private(set) var bytes = 0

  /// Names beyond this are counted together.
  private static let nameLimit = 100_000

  init(_ outbox: OutboxReader, now: Int64, step: (Int) throws(Failure) -> Void = { _ in }) throws(Failure) {
    func add(_ item: OutboxReader.Item) throws(Failure) -> Bool {
      total += 1
      bytes += item.entry?.payload.count ?? 0
      ages[item.state, default: AgeBuckets()].add(age: now - (item.entry?.createdAt ?? now))
      Self.count(item.entry?.kind ?? "(unreadable)", &kinds)
      Self.count(item.entry?.lane ?? "(unreadable)", &lanes)
      if !item.reason.isEmpty { Self.count(item.reason, &errors) }
      try step(total)
      return true
    }
    try outbox.forEachPending(add)
    try outbox.forEachDead(add)
  }

  private static func count(_ name: String, _ counts: inout [String: Int]) {
    let isKnown = counts[name] != nil || counts.count < nameLimit
    counts[isKnown ? name : "(others)", default: 0] += 1
  }
}
