import Holdfast
import LMDBFile

/// `state show PATH KEY`: one record whole.
struct StateShowCommand: Command {
  static let help = Help(
    "state show", "PATH KEY", "shows one record of the state: when it was written, until when it holds, its fields",
    options: [Clock.option] + Help.reading,
    example: "kvdump state show .build/quickstart/store post:4711")

  private let reading: Reading
  private let key: StateKey
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    key = StateKey(try arguments.operand("the key"))
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      guard let found = try StateReader(reading, snapshot).row(key) else {
        throw Failure(
          .negativeAnswer, "\(printable(reading.path)): the state has no record \(printable(key.description))")
      }
      switch found {
      case .failure(let error): throw Failure(.damagedData, "\(printable(reading.path)): \(printable(error.message))")
      case .success(let row):
        try context.output.table([
          ["key", printable(row.text)], ["update", row.stamp == 0 ? "-" : "\(row.stamp)"],
          [
            "written",
            row.fields.isEmpty
              ? "never; it is only in requests in flight"
              : "\(timestamp(row.updatedAt)), \(duration(now - row.updatedAt)) ago",
          ],
          ["expires", row.expiresAt == 0 ? "never" : timestamp(row.expiresAt)],
        ])
        try context.output.table(row.fields.map { ["  \(printable($0.name))", printable("\($0.value)", limit: 200)] })
        for layer in try row.isLayered ? LayerReader(reading, snapshot).layers(over: key) : [] {
          try context.output.line("over it, until entry \(layer.entry) of the outbox is settled:")
          try context.output.table(layer.lines.map { ["  \($0[0])", $0[1]] })
        }
      }
    }
  }
}
