import Holdfast
import LMDB
import LMDBFile

/// `state tail PATH`: the records that were written last.
struct StateTailCommand: Command {
  static let help = Help(
    "state tail", "PATH", "shows the records of the state that were written last, the newest at the end",
    options: [.init("--limit", value: "N", "so many, 20 without"), Clock.option] + Help.reading,
    example: "kvdump state tail .build/quickstart/store --limit 5")

  private let reading: Reading
  private let limit: Int
  private let now: Int64

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    limit = try arguments.number("--limit") ?? 20
    now = try Clock.now(arguments)
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      var newest: [(row: StateRow, bytes: Int)] = []
      var done = 0
      try StateReader(reading, snapshot).forEach { (row, bytes) throws(Failure) in
        done += 1
        try context.progress.step("\(done) records")
        guard let row = try? row.get() else { return true }
        if newest.count == limit && row.stamp < newest.first?.row.stamp ?? .max { return true }
        let place = newest.firstIndex { $0.row.stamp > row.stamp } ?? newest.count
        newest.insert((row, bytes), at: place)
        if newest.count > limit { newest.removeFirst() }
        return true
      }
      if newest.isEmpty { return }
      try context.output.table(
        [["KEY", "FIELDS", "BYTES", "AGE", "EXPIRES"]]
          + newest.map { StateText.row(.success($0.row), bytes: $0.bytes, now: now) }, right: [1, 2])
    }
  }
}
