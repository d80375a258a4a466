import Holdfast
import LMDBFile

/// `cache tail PATH`: the entries that were written last.
struct CacheTailCommand: Command {
  static let help = Help(
    "cache tail", "PATH", "shows the entries of a disk cache that were written last, the newest at the end",
    options: [.init("--limit", value: "N", "so many, 20 without"), Clock.option] + Help.reading,
    example: "kvdump cache tail .build/quickstart-cache --limit 5")

  private let reading: Reading
  private let limit: Int
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    limit = try arguments.number("--limit") ?? 20
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      var newest: [DiskCacheRow] = []
      var done = 0
      try CacheReader(reading, snapshot).forEach { (row, _) throws(Failure) in
        done += 1
        try context.progress.step("\(done) entries")
        guard let entry = try? row.get() else { return true }
        if newest.count == limit && entry.writtenAt < newest.first?.writtenAt ?? .max { return true }
        newest.insert(entry, at: newest.firstIndex { $0.writtenAt > entry.writtenAt } ?? newest.count)
        if newest.count > limit { newest.removeFirst() }
        return true
      }
      try context.output.table(
        [CacheText.header] + newest.map { CacheText.row(.success($0), now: now) }, right: [1, 2])
    }
  }
}
