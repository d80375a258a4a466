import Holdfast
import LMDBFile

/// `report PATH OUT.html`: a page about a file, for a browser.
struct ReportCommand: Command {
  static let help = Help(
    "report", "PATH OUT.html", "writes a page about a file: sizes, databases, histograms, backlog, free space",
    details: "One file without scripts that needs no network. It reads every record.",
    options: [Clock.option] + Help.reading,
    example: "kvdump report .build/quickstart-backlog .build/quickstart-report.html")

  private let reading: Reading
  private let target: String
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    target = try arguments.operand("the page to write")
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    let file = try NewFile(target)
    context.output = file.output
    try context.read(reading) { (snapshot) throws(Failure) in
      let report = try Report(reading, snapshot, now: now) { (done) throws(Failure) in
        try context.progress.step("\(done) records")
      }
      try context.output.write(ReportPage(report).html)
    }
    try context.output.close()
    try file.appear()
    context.remark("wrote \(printable(target))")
  }
}

/// What a report shows.
struct Report {
  struct Database {
    let tree: Tree
    let pages: Int
    var keys = Histogram()
    var values = Histogram()
  }

  let path: String
  let snapshot: Snapshot
  let fileSize: Int
  let allocated: Int
  let freePages: Int
  private(set) var databases: [Database] = []
  let backlog: OutboxBacklog?
  let cache: CacheSums?
  let now: Int64

  init(
    _ reading: Reading, _ snapshot: Snapshot, now: Int64, step: (Int) throws(Failure) -> Void
  ) throws(Failure) {
    path = snapshot.file.path
    self.snapshot = snapshot
    self.now = now
    let status = try reading.naming { () throws(ReadError) in try snapshot.file.source.status() }
    fileSize = status.size
    allocated = status.allocated
    freePages = try reading.naming { () throws(ReadError) in try snapshot.freePageCount() }
    let trees = try reading.naming { () throws(ReadError) in [snapshot.main] + (try snapshot.databases()) }
    var done = 0
    var walker = TreeWalker(snapshot)
    for tree in trees {
      // LMDB does not count the pages of duplicates.
      let pages = tree.flags.contains(.duplicates) ? walker.walk(tree).pages : tree.pages
      var database = Database(tree: tree, pages: pages)
      var records = try reading.naming { () throws(ReadError) in try RecordCursor(snapshot, tree) }
      while try reading.naming({ () throws(ReadError) in try records.next() }) {
        database.keys.add(records.key.count)
        database.values.add(records.valueCount)
        done += 1
        try step(done)
      }
      databases.append(database)
    }
    let names = Set(trees.map(\.title))
    backlog =
      names.contains("outbox.state") ? try OutboxBacklog(try OutboxReader(reading, snapshot), now: now) : nil
    cache = names.contains("cache.entry") ? try CacheSums(try CacheReader(reading, snapshot), now: now) : nil
  }
}
