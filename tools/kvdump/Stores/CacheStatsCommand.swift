import Holdfast
import LMDBFile

/// `cache stats PATH`: how large and how old the entries are.
struct CacheStatsCommand: Command {
  static let help = Help(
    "cache stats", "PATH", "sums up a disk cache: sizes, ages, priorities, and what has expired",
    options: [Clock.option] + Help.reading, example: "kvdump cache stats .build/quickstart-cache")

  private let reading: Reading
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let sums = try CacheSums(try CacheReader(reading, snapshot), now: now) { (done) throws(Failure) in
        try context.progress.step("\(done) entries")
      }
      try context.output.table(
        CachePriority.allCases.map { priority in
          let counts = sums.ages[priority]?.counts ?? AgeBuckets().counts
          return ["\(priority)"] + counts.map(String.init) + ["\(counts.reduce(0, +))"]
        }, under: ["PRIORITY"] + AgeBuckets.titles + ["ALL"], right: Set(1...AgeBuckets.titles.count + 1))
      let sizes = sums.sizes
      try context.output.line(
        "\(count(sizes.count, "entry", "entries")), \(size(sizes.total)); \(sums.inFiles) in files of their own, "
          + "\(sums.expired) expired, \(sums.unreadable) unreadable")
      if sizes.count > 0 {
        try context.output.line(
          "sizes: half below \(size(sizes.percentile(0.5))), 90 % below \(size(sizes.percentile(0.9))), "
            + "the largest \(size(sizes.maximum))")
      }
    }
  }
}

/// What is in a cache, summed up.
struct CacheSums {
  private(set) var sizes = Histogram()
  private(set) var ages: [CachePriority: AgeBuckets] = [:]
  private(set) var expired = 0
  private(set) var inFiles = 0
  private(set) var unreadable = 0

  init(_ cache: CacheReader, now: Int64, step: (Int) throws(Failure) -> Void = { _ in }) throws(Failure) {
    try cache.forEach { (stored) throws(Failure) in
      if let entry = try? stored.row.get() {
        sizes.add(entry.length)
        ages[entry.priority, default: AgeBuckets()].add(age: now - entry.writtenAt, bytes: entry.length)
        if entry.expiresAt != 0 && entry.expiresAt <= now { expired += 1 }
        if entry.place == .file { inFiles += 1 }
      } else {
        unreadable += 1
      }
      try step(sizes.count + unreadable)
      return true
    }
  }
}
