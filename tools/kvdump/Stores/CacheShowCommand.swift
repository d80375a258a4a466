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
      guard let (found, row) = try CacheReader(reading, snapshot).entry(key), let entry = try? found.get() else {
        throw Failure(
          .negativeAnswer, "\(printable(reading.path)): the cache has no readable entry \(String(escaping: key))")
      }
      try context.output.table([
        ["key", String(escaping: entry.key)], ["size", size(entry.length)], ["cost", "\(entry.cost)"],
        ["priority", "\(entry.priority)"],
        ["written", "\(timestamp(entry.writtenAt)), \(duration(now - entry.writtenAt)) ago"],
        ["expires", entry.expiresAt == 0 ? "never" : timestamp(entry.expiresAt)],
        ["codec", "\(entry.codec.id), version \(entry.codec.version)"], ["stored in", entry.place.rawValue],
        ["tags", entry.tags.isEmpty ? "-" : entry.tags.map { String(escaping: $0) }.joined(separator: ", ")],
      ])
      try context.output.write(HexDump.lines(Array(entry.value(in: row).prefix(256))))
    }
  }
}
