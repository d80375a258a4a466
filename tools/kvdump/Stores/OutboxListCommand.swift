import Holdfast
import LMDBFile

/// `outbox list PATH`: what waits to be sent, and what was given up.
struct OutboxListCommand: Command {
  static let help = Help(
    "outbox list", "PATH", "lists what waits to be sent, and what was given up",
    options: [
      .init("--limit", value: "N", "at most so many of each, 20 without"),
      .init(
        "--state", value: "STATE", "only these: waiting, inFlight, held, dead, or failed for those that had an error"),
    ] + Help.reading,
    example: "kvdump outbox list .build/quickstart-backlog --limit 5")

  private let reading: Reading
  private let limit: Int
  private let state: String?

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    limit = try arguments.number("--limit") ?? 20
    state = arguments.value("--state")
    if let state, !(OutboxReader.states + ["failed"]).contains(state) {
      throw Failure(.usage, "--state \(printable(state)) is not one of waiting, inFlight, held, dead, failed")
    }
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let outbox = try OutboxReader(reading, snapshot)
      var rows: [[String]] = []
      func take(_ item: OutboxReader.Item) throws(Failure) -> Bool {
        if isWanted(item) { rows.append(row(item)) }
        try context.progress.step("\(item.id) entries")
        return rows.count < limit
      }
      if limit > 0 { try outbox.forEachPending(take) }
      let pending = rows
      rows = []
      if limit > 0 { try outbox.forEachDead(take) }
      if !(pending + rows).isEmpty {
        let header = ["SEQ", "STATE", "TRIES", "CREATED", "KIND", "LANE", "BYTES", "FILES", "LAST ERROR"]
        try context.output.table(pending + rows, under: header, right: [0, 2, 6, 7])
      }
      let isCut = pending.count == limit || rows.count == limit
      try context.output.line(
        "\(outbox.pendingCount) pending, \(outbox.deadCount) dead"
          + (isCut ? "; at most \(limit) of each are shown, --limit says how many" : ""))
    }
  }

  private func isWanted(_ item: OutboxReader.Item) -> Bool {
    state == nil || item.state == state || state == "failed" && !item.reason.isEmpty
  }

  /// A line of the table; an entry that cannot be read has its reason, and no details.
  private func row(_ item: OutboxReader.Item) -> [String] {
    let details = item.entry.map { entry in
      [
        timestamp(entry.createdAt), printable(entry.kind, limit: 24), printable(entry.lane, limit: 24),
        "\(entry.payload.count)", "\(entry.attachments.count)",
      ]
    }
    return ["\(item.id)", item.state, "\(item.attempts)"] + (details ?? ["?", "?", "?", "?", "?"])
      + [printable(item.reason, limit: 60)]
  }
}
