import Holdfast
import LMDBFile

/// `cache tail PATH`: the entries that were written last.
struct CacheTailCommand: Command {
  static let help = Help(
    "cache tail", "PATH", "shows the entries of a disk cache that were written last, the newest at the end",
    options: RowList.options, example: "kvdump cache tail .build/quickstart-cache --limit 5")

  private let list: RowList

  init(_ arguments: inout Arguments) throws(Failure) { list = try RowList(&arguments) }

  func run(_ context: Context) throws(Failure) {
    try list.writeNewest(to: context, under: CacheText.header) { (snapshot, newest) throws(Failure) in
      var done = 0
      try CacheReader(list.reading, snapshot).forEach { (entry) throws(Failure) in
        done += 1
        try context.progress.step("\(done) entries")
        guard let row = try? entry.row.get() else { return true }
        newest.take(CacheText.row(entry.row, now: list.now), at: row.version)
        return true
      }
    }
  }
}
