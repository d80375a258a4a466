import Holdfast
import LMDB
import LMDBFile

/// `state list PATH`: the records of the state.
struct StateListCommand: Command {
  static let help = Help(
    "state list", "PATH", "lists the records of the state: key, fields, size, age",
    options: [
      .init("--prefix", value: "TEXT", "only keys that start so, such as `post:`"),
      .init("--limit", value: "N", "at most so many, 20 without"), Clock.option,
    ] + Help.reading,
    example: "kvdump state list .build/quickstart/store --prefix post: --limit 5")

  private let reading: Reading
  private let prefix: String
  private let limit: Int
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    prefix = arguments.value("--prefix") ?? ""
    limit = try arguments.number("--limit") ?? 20
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let state = try StateReader(reading, snapshot)
      var rows = [["KEY", "FIELDS", "BYTES", "AGE", "EXPIRES"]]
      if limit > 0 {
        try state.forEach(prefix: prefix) { (row, bytes) throws(Failure) in
          rows.append(StateText.row(row, bytes: bytes, now: now))
          return rows.count <= limit
        }
      }
      if rows.count > 1 { try context.output.table(rows, right: [1, 2]) }
      try context.output.line(count(state.count, "record"))
    }
  }
}

/// Records of the state as lines of tables.
enum StateText {
  static func row(_ row: Result<StateRow, StoreError>, bytes: Int, now: Int64) -> [String] {
    switch row {
    case .success(let row):
      [
        printable(row.text, limit: 60), "\(row.fields.count)", "\(bytes)", duration(now - row.updatedAt),
        row.expiresAt == 0 ? "never" : row.expiresAt <= now ? "is over" : "in " + duration(row.expiresAt - now),
      ]
    case .failure(let error): ["?", "?", "\(bytes)", "?", printable(error.message, limit: 100)]
    }
  }
}
