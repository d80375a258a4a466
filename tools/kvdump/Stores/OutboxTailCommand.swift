import Foundation
import Holdfast
import LMDBFile

/// `outbox tail PATH`: what happened last.
struct OutboxTailCommand: Command {
  static let help = Help(
    "outbox tail", "PATH", "shows what happened last in the outbox: attempts, deliveries, failures",
    options: [
      .init("--limit", value: "N", "so many, 20 without"),
      .init("--follow", "go on with what happens, until Ctrl-C"),
    ] + Help.reading,
    example: "kvdump outbox tail .build/quickstart/store --limit 5")

  private let reading: Reading
  private let limit: Int
  private let follows: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    limit = try arguments.number("--limit") ?? 20
    follows = arguments.has("--follow")
  }

  func run(_ context: Context) throws(Failure) {
    var last: UInt64 = 0
    var wanted = limit
    while true {
      try context.read(reading) { (snapshot) throws(Failure) in
        for record in try OutboxReader(reading, snapshot).journal(last: wanted) {
          switch record {
          case .success(let record) where record.sequence > last:
            try context.output.line(JournalText.line(record))
            last = record.sequence
          case .success: break
          case .failure(let error): try context.output.line(printable(error.message))
          }
        }
      }
      if !follows { return }
      wanted = 1000
      Thread.sleep(forTimeInterval: 0.5)
      if Interrupt.isRequested { return }
    }
  }
}
