import Holdfast
import LMDBFile

/// `outbox verify PATH`: whether every entry can be read, and has what belongs to it.
struct OutboxVerifyCommand: Command {
  static let help = Help(
    "outbox verify", "PATH", "checks that every entry of the outbox can be read, is found, and has its files",
    details: "What is wrong with the indexes, without which nothing is sent, `outbox repair` puts right.",
    options: Help.reading, example: "kvdump outbox verify .build/quickstart-backlog")

  private let reading: Reading

  init(_ arguments: inout Arguments) throws(Failure) { self.init(try Reading(&arguments)) }

  init(_ reading: Reading) { self.reading = reading }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let outbox = try OutboxReader(reading, snapshot)
      var (errors, checked) = (0, 0)
      let word = context.output.style("error", .red)
      func check(_ item: OutboxReader.Item) throws(Failure) -> Bool {
        checked += 1
        try context.progress.step("\(checked) entries")
        if item.isCorrupt {
          errors += 1
          try context.output.line("\(word)    entry \(item.id): \(printable(item.reason))")
        }
        for file in item.entry?.attachments ?? [] {
          let status = try? ByteSource.status(of: file.path)
          if status?.size == file.size { continue }
          errors += 1
          let what = status.map { "has \($0.size) bytes, not \(file.size)" } ?? "is missing"
          try context.output.line("\(word)    entry \(item.id): its file \(printable(file.path)) \(what)")
        }
        return true
      }
      try outbox.forEachPending(check)
      try outbox.forEachDead(check)
      if outbox.entryCount != outbox.pendingCount {
        errors += 1
        try context.output.line(
          "\(word)    \(outbox.entryCount) entries are stored, and \(outbox.pendingCount) have a state")
      }
      for record in (try? outbox.journal(last: .max)) ?? [] {
        if case .failure(let error) = record {
          errors += 1
          try context.output.line("\(word)    \(printable(error.message))")
        }
      }
      for problem in try outbox.indexProblems() {
        errors += 1
        try context.output.line("\(word)    \(problem)")
      }
      try context.output.line("\(count(errors, "error")), \(count(checked, "entry", "entries")) checked")
      if errors > 0 { throw Failure(.negativeAnswer, "") }
    }
  }
}
