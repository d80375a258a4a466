import Holdfast
import LMDB
import LMDBFile

/// `state list PATH`: the records of the state.
struct StateListCommand: Command {
  static let help = Help(
    "state list", "PATH", "lists the records of the state: key, fields, size, age",
    options: [.init("--prefix", value: "TEXT", "only keys that start so, such as `post:`")] + RowList.options,
    example: "kvdump state list .build/quickstart/store --prefix post: --limit 5")

  private let list: RowList
  private let prefix: String

  init(_ arguments: inout Arguments) throws(Failure) {
    list = try RowList(&arguments)
    prefix = arguments.value("--prefix") ?? ""
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(list.reading) { (snapshot) throws(Failure) in
      let state = try StateReader(list.reading, snapshot)
      var rows: [[String]] = []
      if list.limit > 0 {
        try state.forEach(prefix: prefix) { (row, bytes) throws(Failure) in
          rows.append(StateText.row(row, bytes: bytes, now: list.now))
          return rows.count < list.limit
        }
      }
      if !rows.isEmpty { try context.output.table(rows, under: StateText.header, right: [1, 2]) }
      try context.output.line(count(state.count, "record"))
    }
  }
}

/// Records of the state as lines of tables.
enum StateText {
  static let header = ["KEY", "FIELDS", "BYTES", "AGE", "EXPIRES"]

  static func row(_ row: Result<StateRow, StoreError>, bytes: Int, now: Int64) -> [String] {
    switch row {
    case .success(let row) where row.fields.isEmpty && row.isLayered:
      [printable(row.text, limit: 60), "0", "\(bytes)", "-", "only in requests in flight"]
    case .success(let row):
      [
        printable(row.text, limit: 60), "\(row.fields.count)", "\(bytes)", duration(now - row.updatedAt),
        row.expiresAt == 0 ? "never" : row.expiresAt <= now ? "is over" : "in " + duration(row.expiresAt - now),
      ]
    case .failure(let error): ["?", "?", "\(bytes)", "?", printable(error.message, limit: 100)]
    }
  }
}
