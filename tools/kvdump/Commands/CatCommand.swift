import LMDBFile

/// `cat PATH [DATABASE]`: records, or how many there are.
struct CatCommand: Command {
  static let help = Help(
    "cat", "PATH [DATABASE]", "shows the records of a database: all, a range, or only how many",
    details: "`scan` is the same. On a terminal the output is a table, otherwise a line of JSON for each record.",
    options: KeyScope.options + [
      .init("--keys", "only keys"),
      .init("--values", "only values"),
      .init("--count", "only how many there are; of a whole database, what the file records"),
      .init("--count-by-prefix", value: "TEXT", "how many there are for each start of a key up to this text"),
      .init("--max-value", value: "N", "at most so many bytes of each value"),
      .init("-F, --format", value: "FORMAT", "table, jsonl, csv, raw0 or hex"),
      .init("--encoding", value: "ENCODING", "bytes in jsonl and csv: auto, utf8, hex or base64"),
      .init("--ignore-order", "do not mind keys that are out of order"),
    ] + Help.reading,
    example: "kvdump cat .build/quickstart/store state.record --prefix post: --limit 3")

  private let reading: Reading
  private let name: String?
  private let scope: KeyScope
  private let kind: RecordFormat.Kind?
  private let encoding: RecordFormat.Encoding
  private let showsKeys: Bool
  private let showsValues: Bool
  private let valueLimit: Int?
  private let counts: Counts?
  private let ignoresOrder: Bool

  private enum Counts {
    case all
    case byPrefix([UInt8])
  }

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    name = arguments.next()
    scope = try KeyScope(arguments)
    kind = try arguments.choice("--format")
    encoding = try arguments.choice("--encoding") ?? .auto
    showsKeys = !arguments.has("--values")
    showsValues = !arguments.has("--keys")
    if !showsKeys && !showsValues {
      throw Failure(.usage, "--keys and --values together leave nothing; give one of them")
    }
    valueLimit = try arguments.number("--max-value")
    ignoresOrder = arguments.has("--ignore-order")
    if let text = arguments.value("--count-by-prefix") {
      if text.isEmpty { throw Failure(.usage, "--count-by-prefix needs the text that ends a prefix, such as `:`") }
      counts = .byPrefix(try KeyText.bytes(of: text))
    } else {
      counts = arguments.has("--count") ? .all : nil
    }
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let tree = try reading.database(name, in: snapshot)
      if name == nil, context.output.isTerminal, let database = try? snapshot.databases().first {
        context.remark("these describe the named databases; `cat PATH \(database.title)` shows what is in one")
      }
      do throws(ReadFailure<Failure>) {
        switch counts {
        case nil: try show(tree, snapshot, context)
        case .all: try countAll(tree, snapshot, context)
        case .byPrefix(let delimiter): try countByPrefix(delimiter, tree, snapshot, context)
        }
      } catch {
        if case .file(let error) = error, ignoresOrder, error.description.hasSuffix("--ignore-order") { return }
        throw Failure(error, reading.path)
      }
    }
  }

  private func show(_ tree: Tree, _ snapshot: Snapshot, _ context: Context) throws(ReadFailure<Failure>) {
    var format = RecordFormat(kind: kind ?? (context.output.isTerminal ? .table : .jsonl), encoding: encoding)
    (format.showsKeys, format.showsValues, format.valueLimit) = (showsKeys, showsValues, valueLimit)
    format.width = Descriptor.standardOutput.columns ?? 120
    do throws(Failure) { try format.writeHeader(to: &context.output) } catch { throw .body(error) }
    var done = 0
    try scope.forEach(in: snapshot, tree) { (records) throws(ReadFailure<Failure>) in
      try format.write(&records, of: tree, snapshot.layout, to: &context.output)
      done += 1
      do throws(Failure) { try context.progress.step("\(done) records") } catch { throw .body(error) }
    }
  }

  private func countAll(_ tree: Tree, _ snapshot: Snapshot, _ context: Context) throws(ReadFailure<Failure>) {
    var count = scope.isWhole ? tree.entries : 0
    if !scope.isWhole {
      try scope.forEach(in: snapshot, tree) { (_) throws(ReadFailure<Failure>) in
        count += 1
        do throws(Failure) { try context.progress.step("\(count) records") } catch { throw .body(error) }
      }
    }
    do throws(Failure) { try context.output.line("\(count)") } catch { throw .body(error) }
  }

  private func countByPrefix(
    _ delimiter: [UInt8], _ tree: Tree, _ snapshot: Snapshot, _ context: Context
  ) throws(ReadFailure<Failure>) {
    var counts: [[UInt8]: Int] = [:]
    try scope.forEach(in: snapshot, tree) { (records) throws(ReadFailure<Failure>) in
      counts[Self.prefix(of: records.key.array, upTo: delimiter), default: 0] += 1
      do throws(Failure) {
        guard counts.count <= 1_000_000 else {
          throw Failure(.damagedData, "there are more than a million prefixes; choose another text, or a range")
        }
        try context.progress.step("\(counts.count) prefixes")
      } catch {
        throw .body(error)
      }
    }
    let rows = counts.sorted { ($1.value, $0.key.debugDescription) < ($0.value, $1.key.debugDescription) }
    do throws(Failure) {
      try context.output.table(rows.map { ["\($0.value)", String(escaping: $0.key)] }, right: [0])
    } catch {
      throw .body(error)
    }
  }

  static func prefix(of key: [UInt8], upTo delimiter: [UInt8]) -> [UInt8] {
    guard key.count >= delimiter.count else { return key }
    for start in 0...key.count - delimiter.count where key[start..<start + delimiter.count].elementsEqual(delimiter) {
      return Array(key[..<(start + delimiter.count)])
    }
    return key
  }
}
