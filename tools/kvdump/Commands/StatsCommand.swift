import LMDBFile

/// `stats PATH [DATABASE]`: how large keys and values are, and which are the largest.
struct StatsCommand: Command {
  static let help = Help(
    "stats", "PATH [DATABASE]", "shows how large keys and values are, and which are the largest",
    details: "Reads every record. After Ctrl-C it shows what it has seen.",
    options: [
      .init("--top", value: "N", "the N largest records, 5 without"),
      .init("--by-prefix", value: "TEXT", "sums for each start of a key up to this text"),
    ] + Help.reading,
    example: "kvdump stats .build/quickstart/store state.record --by-prefix :")

  private let reading: Reading
  private let name: String?
  private let top: Int
  private let delimiter: [UInt8]?

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    name = arguments.next()
    top = try arguments.number("--top") ?? 5
    delimiter = try arguments.value("--by-prefix").map { (text) throws(Failure) in try KeyText.bytes(of: text) }
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let databases = try reading.naming { () throws(ReadError) in try snapshot.databases() }
      let trees: [Tree]
      if let name { trees = [try reading.database(name, in: snapshot)] } else { trees = [snapshot.main] + databases }
      for tree in trees where name != nil || tree.entries > (tree.name == nil ? databases.count : 0) {
        try show(tree, snapshot, context)
      }
    }
  }

  private func show(_ tree: Tree, _ snapshot: Snapshot, _ context: Context) throws(Failure) {
    var statistics = RecordStatistics(top: top, delimiter: delimiter)
    var interruption: Failure?
    do throws(ReadError) {
      var records = try RecordCursor(snapshot, tree)
      while interruption == nil, try records.next() {
        if tree.name == nil && records.isDatabase { continue }
        statistics.add(records.key, valueCount: records.valueCount)
        do throws(Failure) {
          try context.progress.step("\(tree.title): \(statistics.count) of \(tree.entries) records")
        } catch {
          interruption = error
        }
      }
    } catch {
      throw Failure(error, reading.path)
    }
    context.progress.clear()
    let part = interruption == nil ? "" : ", of which \(statistics.count) were read"
    try context.output.line("\(tree.title): \(count(tree.entries, "record"))\(part)")
    try statistics.write(to: &context.output)
    if let interruption { throw interruption }
  }
}
