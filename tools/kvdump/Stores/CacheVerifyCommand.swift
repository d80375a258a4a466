import Holdfast
import LMDBFile

/// `cache verify PATH`: whether every entry can be read, and has its file.
struct CacheVerifyCommand: Command {
  static let help = Help(
    "cache verify", "PATH", "checks that every entry of a disk cache can be read, and has its file",
    details: """
      Each value is compared with its checksum, also one in a file of its own, so that all of the cache is read. Files that
      no entry names are only remarked upon: the cache removes them when it is opened.
      """,
    options: Help.reading, example: "kvdump cache verify .build/quickstart-cache")

  private let reading: Reading

  init(_ arguments: inout Arguments) throws(Failure) { self.init(try Reading(&arguments)) }

  init(_ reading: Reading) { self.reading = reading }

  func run(_ context: Context) throws(Failure) {
    var named: Set<String> = []
    var hasErrors = false
    try context.read(reading) { (snapshot) throws(Failure) in
      named = []
      let cache = try CacheReader(reading, snapshot)
      var (errors, checked) = (0, 0)
      try cache.forEach { (entry) throws(Failure) in
        checked += 1
        if let file = try? entry.row.get().file { named.insert(file.name) }
        if let flaw = try flaw(of: entry, in: cache) {
          errors += 1
          try context.output.line("\(context.output.style("error", .red))    \(flaw)")
        }
        // Values can be large, so the clock is looked at each time.
        try context.progress.look("\(checked) entries")
        return true
      }
      try context.output.line("\(count(errors, "error")), \(count(checked, "entry", "entries")) checked")
      hasErrors = errors > 0
    }
    try remarkOrphans(named, context)
    if hasErrors { throw Failure(.negativeAnswer, "") }
  }

  private func flaw(of entry: CacheReader.Entry, in cache: CacheReader) throws(Failure) -> String? {
    let row: DiskCacheRow
    switch entry.row {
    case .failure(let error): return printable(error.message)
    case .success(let readable): row = readable
    }
    let key = shortened(row.key, to: 48)
    if row.place == .rows {
      let isIntact = DiskCacheRow.isIntact(entry.stored, entry.bytes, tail: try cache.tail(of: entry))
      return isIntact ? nil : "The cache entry \(key) cannot be read: its checksum is wrong."
    }
    guard let file = row.file, let flaw = cache.files.flaw(of: file, length: row.length) else { return nil }
    // The app may have removed or replaced it since this commit.
    if try !isCurrent(file, row.key) { return nil }
    return "The file of the cache entry \(key), \(printable(cache.files.path(of: file))), \(flaw)."
  }

  private func isCurrent(_ file: DiskCacheRow.File, _ key: [UInt8]) throws(Failure) -> Bool {
    let newest = try Reading(reading, readable: true).snapshot()
    return try CacheReader(reading, newest).entry(key)?.1.file == file
  }

  private func remarkOrphans(_ named: Set<String>, _ context: Context) throws(Failure) {
    let folder = StoreFolder.files
    guard let path = try folder.path(of: reading.file()) else { return }
    let orphans = try CacheFiles(path: path).names().filter { !named.contains($0) }
    guard let first = orphans.first else { return }
    let bytes = orphans.reduce(0) { $0 + ((try? ByteSource.status(of: "\(path)/\($1)").size) ?? 0) }
    context.remark(
      "\(printable(path)): no entry names \(count(orphans.count, "file")) of \(size(bytes)), such as \(first); "
        + "the cache removes what is not being written when it is opened")
  }
}
