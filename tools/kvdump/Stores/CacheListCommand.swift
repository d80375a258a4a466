import Holdfast
import LMDBFile

/// `cache list PATH`: the entries of a disk cache.
struct CacheListCommand: Command {
  static let help = Help(
    "cache list", "PATH", "lists the entries of a disk cache: key, size, cost, priority, age",
    options: [
      .init("--prefix", value: "KEY", "only keys that start so"),
      .init("--limit", value: "N", "at most so many, 20 without"),
      Clock.option,
    ] + Help.reading,
    example: "kvdump cache list .build/quickstart-cache")

  private let reading: Reading
  private let prefix: [UInt8]
  private let limit: Int
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    prefix = Array((arguments.value("--prefix") ?? "").utf8)
    limit = try arguments.number("--limit") ?? 20
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      var rows = [CacheText.header]
      let cache = try CacheReader(reading, snapshot)
      if limit > 0 {
        try cache.forEach(prefix: prefix) { (entry, _) throws(Failure) in
          rows.append(CacheText.row(entry, now: now))
          return rows.count <= limit
        }
      }
      try context.output.table(rows, right: [1, 2])
    }
  }
}
