import Holdfast
import LMDB
import LMDBFile

/// `state stats PATH`: how many records there are of each type, how large and how old.
struct StateStatsCommand: Command {
  static let help = Help(
    "state stats", "PATH", "sums up the state: records, bytes and ages by type",
    options: [Clock.option] + Help.reading, example: "kvdump state stats .build/quickstart/store")

  private let reading: Reading
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    now = try Clock.now(arguments)
  }

  private struct Sum {
    var count = 0
    var bytes = 0
    var oldest: Int64 = .max
    var expired = 0
    /// Those that are there only for what requests in flight have laid over them.
    var layered = 0
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let state = try StateReader(reading, snapshot)
      var sums: [String: Sum] = [:]
      var done = 0
      try state.forEach { (row, bytes) throws(Failure) in
        let record = try? row.get()
        let type = record?.key.type ?? "(unreadable)"
        sums[type, default: Sum()].count += 1
        sums[type, default: Sum()].bytes += bytes
        if let record, record.fields.isEmpty, record.isLayered {
          sums[type, default: Sum()].layered += 1
        } else if let record {
          sums[type, default: Sum()].oldest = min(sums[type]?.oldest ?? .max, record.updatedAt)
          if record.expiresAt != 0 && record.expiresAt <= now { sums[type, default: Sum()].expired += 1 }
        }
        done += 1
        try context.progress.step("\(done) of \(state.count) records")
        return true
      }
      let rows = sums.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }.map { type, sum in
        [
          printable(type, limit: 40), "\(sum.count)", size(sum.bytes), "\(sum.expired)", "\(sum.layered)",
          sum.oldest == .max ? "-" : duration(now - sum.oldest),
        ]
      }
      if !rows.isEmpty {
        try context.output.table(
          rows, under: ["TYPE", "RECORDS", "SIZE", "EXPIRED", "IN FLIGHT ONLY", "OLDEST"], right: [1, 2, 3, 4])
      }
      try context.output.line(count(state.count, "record"))
    }
  }
}
