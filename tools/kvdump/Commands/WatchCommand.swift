import Foundation
import Holdfast
import LMDBFile

/// `watch PATH`: a line for each commit that is seen.
struct WatchCommand: Command {
  static let help = Help(
    "watch", "PATH", "shows what each commit changes, as it happens, until Ctrl-C",
    details:
      "Looks at the file again and again, so that commits in quick succession are one line. It holds no snapshot.",
    options: [
      .init("--interval", value: "SECONDS", "how often to look, 1 without"),
      .init("--commits", value: "N", "end after N lines, of which the first is the commit that is there"),
      .init("-F, --format", value: "FORMAT", "text or jsonl"),
    ],
    example: "kvdump watch .build/quickstart/store --commits 1")

  private enum Format: String, CaseIterable { case text, jsonl }

  private let reading: Reading
  private let interval: Double
  private let limit: Int?
  private let format: Format

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = Reading(try arguments.path())
    let word = arguments.value("--interval") ?? "1"
    guard let interval = Double(word), interval >= 0.01, interval <= 86400 else {
      throw Failure(.usage, "--interval \(printable(word)): a number of seconds from 0.01 is expected")
    }
    self.interval = interval
    limit = try arguments.number("--commits")
    format = try arguments.choice("--format") ?? .text
  }

  /// What is compared from commit to commit.
  private struct State {
    var transaction: UInt64 = 0
    var pages = 0
    var entries: [String: Int] = [:]
  }

  func run(_ context: Context) throws(Failure) {
    if limit == 0 { return }
    var last = try state(context)
    try show(last, since: nil, context)
    var lines = 1
    while lines < limit ?? .max {
      Thread.sleep(forTimeInterval: interval)
      if Interrupt.isRequested { return }
      let newest = try reading.naming { () throws(ReadError) in
        try DataFile(at: reading.path).metas().compactMap(\.sound?.transactionID).max() ?? 0
      }
      if newest == last.transaction { continue }
      let state = try state(context)
      try show(state, since: last, context)
      last = state
      lines += 1
    }
  }

  private func state(_ context: Context) throws(Failure) -> State {
    var state = State()
    try context.read(Reading(reading, readable: true)) { (snapshot) throws(Failure) in
      let trees = try reading.naming { () throws(ReadError) in [snapshot.main] + (try snapshot.databases()) }
      state.transaction = snapshot.meta.transactionID
      state.pages = snapshot.meta.lastPage + 1
      state.entries = Dictionary(trees.map { ($0.title, $0.entries) }) { first, _ in first }
    }
    return state
  }

  private func show(_ state: State, since last: State?, _ context: Context) throws(Failure) {
    let changes = state.entries.sorted { $0.key < $1.key }.compactMap { name, entries -> (String, Int, Int)? in
      let before = last?.entries[name] ?? (last == nil ? entries : 0)
      return entries == before ? nil : (name, entries - before, entries)
    }
    if format == .jsonl {
      let list = changes.map { "\(JSONText.quoted($0.0)):{\"entries\":\($0.2),\"change\":\($0.1)}" }
      try context.output.line(
        "{\"commit\":\(state.transaction),\"pages\":\(state.pages),\"databases\":{\(list.joined(separator: ","))}}")
    } else {
      let commits = last.map { Int(state.transaction - min(state.transaction, $0.transaction)) } ?? 1
      let more = commits > 1 ? " (\(commits) commits)" : ""
      let list = changes.map { "\(printable($0.0)) \($0.1 > 0 ? "+" : "")\($0.1) = \($0.2)" }
      let text =
        list.isEmpty ? last == nil ? "" : "no database has more or fewer records" : list.joined(separator: ", ")
      try context.output.line("commit \(state.transaction)\(more)  \(count(state.pages, "page"))  \(text)".trimmed)
    }
    try context.output.flush()
  }
}
