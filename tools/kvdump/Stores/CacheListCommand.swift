import Holdfast
import LMDBFile

/// `cache list PATH`: the entries of a disk cache.
struct CacheListCommand: Command {
  static let help = Help(
    "cache list", "PATH", "lists the entries of a disk cache: key, size, cost, priority, age",
    options: [.init("--prefix", value: "KEY", "only keys that start so")] + RowList.options,
    example: "kvdump cache list .build/quickstart-cache")

  private let list: RowList
  private let prefix: [UInt8]

  init(_ arguments: inout Arguments) throws(Failure) {
    list = try RowList(&arguments)
    prefix = try KeyText.bytes(of: arguments.value("--prefix") ?? "")
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(list.reading) { (snapshot) throws(Failure) in
      var rows: [[String]] = []
      let cache = try CacheReader(list.reading, snapshot)
      if list.limit > 0 {
        try cache.forEach(prefix: prefix) { (entry) throws(Failure) in
          rows.append(CacheText.row(entry.row, now: list.now))
          return rows.count < list.limit
        }
      }
      try context.output.table(rows, under: CacheText.header, right: [1, 2])
    }
  }
}
