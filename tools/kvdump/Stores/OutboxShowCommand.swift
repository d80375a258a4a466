import Holdfast
import LMDBFile

/// `outbox show PATH SEQ`: all that is known of an entry.
struct OutboxShowCommand: Command {
  static let help = Help(
    "outbox show", "PATH SEQ", "shows one entry of the outbox whole, with its payload and its history",
    options: [.init("--payload", "only the payload, byte by byte")] + Help.reading,
    example: "kvdump outbox show .build/quickstart-backlog 1")

  private let reading: Reading
  private let id: EntryID
  private let onlyPayload: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    id = try EntryID(argument: try arguments.operand("the number of an entry"))
    onlyPayload = arguments.has("--payload")
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let outbox = try OutboxReader(reading, snapshot)
      guard let item = try outbox.item(id) else {
        throw Failure(
          .negativeAnswer, "\(printable(reading.path)): the outbox has no entry \(id); it was delivered, or never made")
      }
      guard let entry = item.entry else { throw Failure(.damagedData, "\(printable(reading.path)): \(item.reason)") }
      if onlyPayload { return try context.output.write(entry.payload.span) }
      try context.output.table(Self.delivery(of: item, entry) + Self.request(of: entry))
      for file in entry.attachments {
        let isThere = (try? ByteSource.status(of: file.path)) != nil
        try context.output.line(
          "file \(printable(file.name)), \(printable(file.mediaType)), \(size(file.size)): \(printable(file.path))\(isThere ? "" : " (missing)")"
        )
      }
      for layer in try LayerReader(reading, snapshot).layers(of: id) {
        try context.output.line(
          "over \(printable(layer.text)), until it is settled\(layer.isDropped ? "" : ", and then in it"):")
        try context.output.table(layer.lines.map { ["  \($0[0])", $0[1]] })
      }
      try writePayload(entry.payload, context)
      for record in (try? outbox.journal(last: .max)) ?? [] {
        if let record = try? record.get(), record.entry == id { try context.output.line(JournalText.line(record)) }
      }
    }
  }

  /// How far it has come.
  private static func delivery(of item: OutboxReader.Item, _ entry: OutboxEntry) -> [[String]] {
    let attempts = "\(item.attempts)" + (entry.maxAttempts.map { " of at most \($0)" } ?? "")
    return [
      ["entry", "\(item.id)"], ["state", item.isCancelRequested ? "\(item.state), cancelled" : item.state],
      ["attempts", attempts],
      [item.state == "dead" ? "given up" : "not before", item.notBefore > 0 ? timestamp(item.notBefore) : "-"],
      ["last error", item.reason.isEmpty ? "-" : printable(item.reason)], ["created", timestamp(entry.createdAt)],
      ["expires", item.expiresAt > 0 ? timestamp(item.expiresAt) : "never"],
      ["fate unknown", item.ambiguousSince > 0 ? "since \(timestamp(item.ambiguousSince))" : "no"],
    ]
  }

  /// What is to be sent, and how.
  private static func request(of entry: OutboxEntry) -> [[String]] {
    func named(_ text: String?, _ without: String) -> String { text.map { printable($0) } ?? without }
    return [
      ["kind", "\(printable(entry.kind)), version \(entry.schemaVersion)"], ["lane", printable(entry.lane)],
      ["key", named(entry.key, "-")], ["queue", entry.queue.isEmpty ? "-" : printable(entry.queue)],
      ["host", named(entry.host, "the sender's")], ["credentials", named(entry.credentials, "the sender's")],
      ["priority", "\(entry.priority)"], ["recovery", "\(entry.recovery)"],
      ["idempotency key", "\(entry.idempotencyKey)"], ["payload", "\(count(entry.payload.count, "byte"))"],
    ]
  }

  private func writePayload(_ payload: [UInt8], _ context: Context) throws(Failure) {
    if payload.isEmpty { return }
    if let text = try? ValueDecoder.json.text(of: payload, Importing.native) {
      try context.output.line(text)
    } else if let text = String(validating: payload, as: UTF8.self) {
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        try context.output.line(printable(String(line)))
      }
    } else {
      try context.output.write(HexDump.lines(payload))
    }
  }
}

extension EntryID {
  /// The number of an entry on the command line.
  init(argument: String) throws(Failure) {
    guard let number = UInt64(argument) else {
      throw Failure(.usage, "\(printable(argument)) is no number of an entry; `kvdump outbox list` shows them")
    }
    self.init(rawValue: number)
  }
}

/// Records of the journal as lines.
enum JournalText {
  static func line(_ record: JournalRecord) -> String {
    let attempt = record.attempt > 0 ? ", attempt \(record.attempt)" : ""
    let reason = record.reason.isEmpty ? "" : ": \(printable(record.reason, limit: 100))"
    return "\(timestamp(record.time))  \(record.entry)  \(record.kind)\(attempt)\(reason)"
  }
}
