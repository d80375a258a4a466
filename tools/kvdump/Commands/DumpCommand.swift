import Foundation
import LMDBFile

/// `dump PATH`: databases as text that `kvdump load` and `mdb_load` read.
struct DumpCommand: Command {
  static let help = Help(
    "dump", "PATH [DATABASE]", "writes databases as text that `load` and mdb_load read",
    details: """
      Takes what mdb_dump takes, and writes the same bytes. Without a database, the main one is written as it is. The
      text ends with DATA=END only if every record is in it, so that `load` refuses one that is not complete. The files
      of a Holdfast store are not in it; `copy` takes them along.
      """,
    options: [
      .init("--all", "the main database's own records, and all named databases"),
      .init("-a", "all named databases, without the main one, as mdb_dump does"),
      .init("-s, --database", value: "NAME", "this database"),
      .init("-l, --list", "only the names of the databases"),
      .init("-p, --print", "printable characters as they are, not in hexadecimal"),
      .init("-f, --file", value: "FILE", "write to a file, which appears once it is complete"),
      .init("-n", "ignored: a data file is recognised"),
      .init("--mdb-version", value: "VERSION", "for mdb_load before 0.9.25: 0.9.24 leaves backslashes single with -p"),
      .init("--ignore-order", "do not mind keys that are out of order"),
    ] + Help.reading,
    example: "kvdump dump -p .build/quickstart/store -s state.record")

  private let reading: Reading
  private let name: String?
  private let scope: Scope
  private let writer: DumpWriter
  private let file: String?
  private let ignoresOrder: Bool

  private enum Scope { case one, named, everything, names }

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    let operand = arguments.next()
    name = arguments.value("-s") ?? operand
    scope =
      arguments.has("-l") ? .names : arguments.has("--all") ? .everything : arguments.has("-a") ? .named : .one
    if scope != .one && name != nil {
      throw Failure(.usage, "a database is named, and all are asked for; leave out one of the two")
    }
    var doublesBackslash = true
    if let version = arguments.value("--mdb-version") {
      let numbers = version.split(separator: ".").map { Int($0) }
      guard numbers.count == 3, !numbers.contains(nil) else {
        throw Failure(.usage, "--mdb-version \(printable(version)): a version such as 0.9.24 is expected")
      }
      doublesBackslash = numbers.compactMap { $0 }.lexicographicallyPrecedes([0, 9, 25]) ? false : true
    }
    writer = DumpWriter(
      encoding: arguments.has("-p") ? .printable(doublesBackslash: doublesBackslash) : .hexadecimal)
    file = arguments.value("-f")
    ignoresOrder = arguments.has("--ignore-order")
  }

  func run(_ context: Context) throws(Failure) {
    guard let file else {
      return try context.read(reading) { (snapshot) throws(Failure) in try dump(snapshot, context) }
    }
    let target = try NewFile(file)
    context.output = target.output
    try context.read(reading) { (snapshot) throws(Failure) in try dump(snapshot, context) }
    try context.output.close()
    try target.appear()
  }

  private func dump(_ snapshot: Snapshot, _ context: Context) throws(Failure) {
    try dumpAll(snapshot, context)
    // All there is has been written, so that it can be compared; but nothing reads it back.
    let names = try scope == .one ? [] : reading.naming { () throws(ReadError) in try snapshot.databases() }
    if let tree = names.first(where: { $0.name?.contains(0x0A) == true }) {
      throw Failure(
        .damagedData,
        "\(printable(reading.path)): the name of database \(tree.title) has a line break, which this format cannot hold; "
          + "use `export`")
    }
  }

  private func dumpAll(_ snapshot: Snapshot, _ context: Context) throws(Failure) {
    switch scope {
    case .one: try dump(try reading.database(name, in: snapshot), snapshot, context)
    case .names: for tree in try named(snapshot, context) { try writeName(of: tree, &context.output) }
    case .named: for tree in try named(snapshot, context) { try dump(tree, snapshot, context) }
    case .everything:
      let databases = try reading.naming { () throws(ReadError) in try snapshot.databases() }
      if databases.isEmpty || databases.count < snapshot.main.entries {
        try dump(snapshot.main, snapshot, context, skipsDatabases: true)
      }
      for tree in databases { try dump(tree, snapshot, context) }
    }
  }

  private func writeName(of tree: Tree, _ output: inout Output) throws(Failure) {
    let name = Tree.trimmed(tree.name ?? [])
    try output.write(name.span)
    try output.write(byte: 0x0A)
  }

  private func named(_ snapshot: Snapshot, _ context: Context) throws(Failure) -> [Tree] {
    let databases = try reading.naming { () throws(ReadError) in try snapshot.databases() }
    let plain = snapshot.main.entries - databases.count
    if databases.isEmpty {
      throw Failure(
        .noInput,
        "\(printable(reading.path)): it has no named databases; "
          + "leave out the option to get the \(count(plain, "record")) of the main one")
    }
    if plain > 0 {
      context.remark(
        "\(printable(reading.path)): \(count(plain, "record")) of the main database \(plain == 1 ? "is" : "are") left out; "
          + "--all includes them")
    }
    return databases
  }

  private func dump(
    _ tree: Tree, _ snapshot: Snapshot, _ context: Context, skipsDatabases: Bool = false
  ) throws(Failure) {
    try writer.writeHeader(of: tree, in: snapshot, to: &context.output)
    var records = try reading.naming { () throws(ReadError) in try RecordCursor(snapshot, tree) }
    var written = 0
    do throws(ReadFailure<Failure>) {
      while try next(&records) {
        if skipsDatabases && records.isDatabase { continue }
        try writer.writeRecord(&records, to: &context.output)
        written += 1
        if written & 0xFF == 0 { try step(context, written, tree) }
      }
      if !ignoresOrder {
        do throws(ReadError) { try records.finish() } catch { throw .file(error) }
      }
    } catch {
      throw Failure(error, reading.path)
    }
    try writer.writeFooter(to: &context.output)
  }

  private func next(_ records: inout RecordCursor) throws(ReadFailure<Failure>) -> Bool {
    do throws(ReadError) { return try records.next() } catch { throw .file(error) }
  }

  private func step(_ context: Context, _ written: Int, _ tree: Tree) throws(ReadFailure<Failure>) {
    do throws(Failure) {
      try context.progress.look("\(tree.title): \(written) of \(tree.entries) records")
    } catch {
      throw .body(error)
    }
  }
}

extension Failure {
  /// What went wrong while records were read and written.
  init(_ failure: ReadFailure<Failure>, _ path: String) {
    switch failure {
    case .file(let error): self.init(error, path)
    case .body(let failure): self = failure
    }
  }
}
