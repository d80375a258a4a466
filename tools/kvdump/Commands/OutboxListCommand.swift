import Holdfast

/// `outbox list PATH [--limit N]`: what waits to be sent, and what was given up.
struct OutboxListCommand: Command {
  static let help = Help(
    "outbox list", "PATH", "lists what waits to be sent, and what was given up",
    options: [.init("--limit", value: "N", "at most so many of each, 20 without")],
    example: "kvdump outbox list .build/quickstart-backlog/store --limit 5")

  private let path: String
  private let limit: Int

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    limit = try arguments.number("--limit") ?? 20
  }

  func run(_ context: Context) throws(Failure) {
    do {
      let outbox = try Store.open(at: path, isReadOnly: true).outbox
      let counts = try outbox.counts()
      let pending = try outbox.pendingEntries(limit: limit).map { pending in
        row(pending.id, try? pending.entry.get(), "\(pending.phase)", pending.attempts, pending.lastError)
      }
      let dead = try outbox.deadEntries(limit: limit).map { letter in
        row(letter.entry.id, letter.entry, "dead", letter.attempts, letter.reason)
      }
      if !(pending + dead).isEmpty {
        let header = ["SEQ", "STATE", "TRIES", "CREATED", "KIND", "LANE", "BYTES", "FILES", "LAST ERROR"]
        try context.output.table([header] + pending + dead, right: [0, 2, 6, 7])
      }
      try context.output.line("\(counts.pending) pending, \(counts.dead) dead")
    } catch {
      throw Failure(error)
    }
  }

  /// A line of the table; an entry that cannot be read has its reason, and no details.
  private func row(
    _ id: EntryID, _ entry: OutboxEntry?, _ state: String, _ tries: Int, _ error: String
  ) -> [String] {
    let details = entry.map { entry in
      [
        timestamp(entry.createdAt), printable(entry.kind, limit: 24), printable(entry.lane, limit: 24),
        "\(entry.payload.count)", "\(entry.attachments.count)",
      ]
    }
    return ["\(id)", state, "\(tries)"] + (details ?? ["?", "?", "?", "?", "?"]) + [printable(error, limit: 60)]
  }
}
