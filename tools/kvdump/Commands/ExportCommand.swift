import LMDBFile

/// `export PATH`: all databases as lines of JSON, or as CSV.
struct ExportCommand: Command {
  static let help = Help(
    "export", "PATH [DATABASE]", "writes databases as JSON lines or CSV; `import` reads them back",
    details: """
      The first line of JSON names the databases and their flags, the last has the number of records and a SHA-256 of all
      lines before, so that a file that has been cut off is noticed. Bytes that are not UTF-8 are in base64.
      The files of a Holdfast store are not in it; `copy` takes them along.
      """,
    options: [
      .init("-F, --format", value: "FORMAT", "jsonl (usual) or csv, which keeps no flags"),
      .init("--encoding", value: "ENCODING", "bytes: auto, hex or base64"),
      .init("--no-header", "leave out the first line"),
      .init("--no-trailer", "leave out the last line"),
      .init("-f, --file", value: "FILE", "write to a file, which appears once it is complete"),
      .init("--ignore-order", "do not mind keys that are out of order"),
    ] + Help.reading,
    example: "kvdump export .build/quickstart/store state.record")

  private enum Format: String, CaseIterable { case jsonl, csv }

  private let reading: Reading
  private let name: String?
  private let format: Format
  private let encoding: RecordFormat.Encoding
  private let hasHeader: Bool
  private let hasTrailer: Bool
  private let file: String?
  private let ignoresOrder: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    name = arguments.next()
    format = try arguments.choice("--format") ?? .jsonl
    encoding = try arguments.choice("--encoding") ?? .auto
    guard encoding != .utf8 else {
      throw Failure(.usage, "--encoding utf8 would lose bytes that are no text; without it, those alone are in base64")
    }
    hasHeader = !arguments.has("--no-header")
    hasTrailer = !arguments.has("--no-trailer") && format == .jsonl
    file = arguments.value("-f")
    ignoresOrder = arguments.has("--ignore-order")
  }

  func run(_ context: Context) throws(Failure) {
    let target = try file.map { (file) throws(Failure) in try NewFile(file) }
    if let target { context.output = target.output }
    try context.read(reading) { (snapshot) throws(Failure) in
      context.output.digest = hasTrailer ? SHA256() : nil
      try export(snapshot, context)
    }
    if let target {
      try context.output.close()
      try target.appear()
    }
  }

  private func export(_ snapshot: Snapshot, _ context: Context) throws(Failure) {
    let databases = try reading.naming { () throws(ReadError) in try snapshot.databases() }
    let trees =
      try name.map { (name) throws(Failure) in [try reading.database(name, in: snapshot)] }
      ?? (databases.count == snapshot.main.entries && !databases.isEmpty ? [] : [snapshot.main]) + databases
    let format = RecordFormat(kind: format == .csv ? .csv : .jsonl, encoding: encoding)
    if hasHeader {
      if self.format == .csv {
        try format.writeHeader(to: &context.output)
      } else {
        try writeHeader(trees, snapshot, context)
      }
    }
    var done = 0
    for tree in trees {
      do throws(ReadFailure<Failure>) {
        done += try write(tree, format, snapshot, context, skipsDatabases: name == nil)
      } catch {
        throw Failure(error, reading.path)
      }
    }
    if hasTrailer {
      let digest = context.output.finishDigest()
      try context.output.line("{\"end\":true,\"records\":\(done),\"sha256\":\"\(digest)\"}")
    }
  }

  private func writeHeader(_ trees: [Tree], _ snapshot: Snapshot, _ context: Context) throws(Failure) {
    let list = trees.map { tree in
      let flags = DumpWriter.flags.filter { tree.flags.contains($0.0) }.map { "\"\($0.1)\"" }.joined(separator: ",")
      let name = tree.name.map { RecordFormat(kind: .jsonl).json(Tree.trimmed($0)) } ?? "null"
      return "{\"db\":\(name),\"flags\":[\(flags)]}"
    }
    let meta = snapshot.meta
    try context.output.line(
      "{\"kvdump\":1,\"trailer\":\(hasTrailer),\"mapsize\":\(max(meta.mapSize, UInt64(meta.usedBytes))),"
        + "\"databases\":[\(list.joined(separator: ","))]}")
  }

  private func write(
    _ tree: Tree, _ format: RecordFormat, _ snapshot: Snapshot, _ context: Context, skipsDatabases: Bool
  ) throws(ReadFailure<Failure>) -> Int {
    var done = 0
    var records: RecordCursor
    do throws(ReadError) { records = try RecordCursor(snapshot, tree) } catch { throw .file(error) }
    while try next(&records) {
      if skipsDatabases && records.isDatabase { continue }
      try format.write(&records, of: tree, snapshot.layout, to: &context.output)
      done += 1
      do throws(Failure) {
        try context.progress.step("\(tree.title): \(done) of \(tree.entries) records")
      } catch {
        throw .body(error)
      }
    }
    if !ignoresOrder { do throws(ReadError) { try records.finish() } catch { throw .file(error) } }
    return done
  }

  private func next(_ records: inout RecordCursor) throws(ReadFailure<Failure>) -> Bool {
    do throws(ReadError) { return try records.next() } catch { throw .file(error) }
  }
}
