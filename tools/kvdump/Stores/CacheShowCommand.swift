import Holdfast
import LMDBFile

/// `cache show PATH KEY`: one entry whole.
struct CacheShowCommand: Command {
  static let help = Help(
    "cache show", "PATH KEY", "shows one entry of a disk cache: what is known of it, and the start of its value",
    options: [Clock.option] + Help.reading, example: "kvdump cache show .build/quickstart-cache thumbnail:42")

  private let reading: Reading
  private let key: [UInt8]
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    key = try KeyText.bytes(of: try arguments.operand("the key"))
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let cache = try CacheReader(reading, snapshot)
      guard let (entry, row) = try cache.entry(key) else {
        throw Failure(
          .negativeAnswer, "\(printable(reading.path)): the cache has no readable entry \(String(escaping: key))")
      }
      let use = try cache.use(of: row)
      let place = row.file.map { "file \(printable(cache.files.path(of: $0)))" } ?? row.place.rawValue
      try context.output.table([
        ["key", String(escaping: row.key)], ["size", size(row.length)], ["cost", "\(row.cost)"],
        ["priority", "\(row.priority)"],
        ["written", "\(timestamp(row.writtenAt)), \(duration(now - row.writtenAt)) ago"],
        ["last used", "\(timestamp(use.lastUsedAt)), \(duration(now - use.lastUsedAt)) ago"],
        ["hits", "\(use.hits)"],
        ["expires", row.expiresAt == 0 ? "never" : timestamp(row.expiresAt)],
        ["codec", "\(row.codec.id), version \(row.codec.version)"], ["stored in", place],
        ["tags", row.tags.isEmpty ? "-" : row.tags.map { String(escaping: $0) }.joined(separator: ", ")],
      ])
      try context.output.write(HexDump.lines(try cache.start(of: entry, row, count: 256)))
      if let file = row.file, let flaw = cache.files.flaw(of: file, length: row.length) {
        throw Failure(.damagedData, "\(printable(cache.files.path(of: file))) \(flaw)")
      }
    }
  }
}
