import Holdfast
import LMDB
import LMDBFile

/// `state tail PATH`: the records that were written last.
struct StateTailCommand: Command {
  static let help = Help(
    "state tail", "PATH", "shows the records of the state that were written last, the newest at the end",
    options: RowList.options, example: "kvdump state tail .build/quickstart/store --limit 5")

  private let list: RowList

  init(_ arguments: inout Arguments) throws(Failure) { list = try RowList(&arguments) }

  func run(_ context: Context) throws(Failure) {
    try list.writeNewest(to: context, under: StateText.header) { (snapshot, newest) throws(Failure) in
      var done = 0
      try StateReader(list.reading, snapshot).forEach { (row, bytes) throws(Failure) in
        done += 1
        try context.progress.step("\(done) records")
        guard let record = try? row.get(), record.stamp > 0 else { return true }
        newest.take(StateText.row(row, bytes: bytes, now: list.now), at: record.stamp)
        return true
      }
    }
  }
}
