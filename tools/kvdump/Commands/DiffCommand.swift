import LMDBFile

/// `diff A B`: which records differ between two files.
struct DiffCommand: Command {
  static let help = Help(
    "diff", "A B", "shows which records differ between two files: - only in A, + only in B",
    details: "The exit code is 0 if they hold the same, and 1 if not. Layout, free pages and commits do not count.",
    options: [
      .init("-s, --database", value: "NAME", "only this database"),
      .init("--brief", "only whether they differ"),
      .init("-F, --format", value: "FORMAT", "text or jsonl"),
      .init("--meta", value: "N", "read the commit of meta page 0 or 1 of A"),
      .init("--lock", "hold a reader's place in A, so that a busy writer cannot disturb"),
    ],
    example: "kvdump diff .build/quickstart/store .build/quickstart-backlog --brief")

  private enum Format: String, CaseIterable { case text, jsonl }

  private let left: Reading
  private let right: Reading
  private let name: String?
  private let isBrief: Bool
  private let format: Format

  init(_ arguments: inout Arguments) throws(Failure) {
    left = try Reading(&arguments)
    right = Reading(try arguments.operand("the second file"))
    name = arguments.value("-s")
    isBrief = arguments.has("--brief")
    format = try arguments.choice("--format") ?? .text
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(left) { (a) throws(Failure) in
      let b = try right.snapshot()
      var differences = 0
      for (old, new) in try pairs(a, b) {
        differences += try compare(old, new, a, b, context)
        if isBrief && differences > 0 { break }
      }
      guard try right.naming({ () throws(ReadError) in try b.isIntact() }) else {
        throw Failure(
          .busy, "\(printable(right.path)): it is being written faster than it can be read; make a copy of it")
      }
      if differences > 0 {
        if isBrief { try context.output.line("they differ") }
        throw Failure(.negativeAnswer, "")
      }
    }
  }

  /// The databases of both, by name; one that is missing is `nil`.
  private func pairs(_ a: Snapshot, _ b: Snapshot) throws(Failure) -> [(Tree?, Tree?)] {
    if let name { return [(try left.database(name, in: a), try right.database(name, in: b))] }
    let mine = try left.naming { () throws(ReadError) in try a.databases() }
    let theirs = try right.naming { () throws(ReadError) in try b.databases() }
    func find(_ tree: Tree, _ list: [Tree]) -> Tree? {
      list.first { Tree.trimmed($0.name ?? []) == Tree.trimmed(tree.name ?? []) }
    }
    var pairs: [(Tree?, Tree?)] = [(a.main, b.main)]
    for tree in mine { pairs.append((tree, find(tree, theirs))) }
    for tree in theirs where find(tree, mine) == nil { pairs.append((nil, tree)) }
    return pairs
  }

  private func compare(
    _ old: Tree?, _ new: Tree?, _ a: Snapshot, _ b: Snapshot, _ context: Context
  ) throws(Failure) -> Int {
    var differences = 0
    var mine = try Side(left, a, old)
    var theirs = try Side(right, b, new)
    try mine.next()
    try theirs.next()
    if old == nil || new == nil {
      differences += 1
      try report(old == nil ? "+" : "-", old ?? new, nil, nil, context)
    }
    while mine.hasRecord || theirs.hasRecord {
      if isBrief && differences > 0 { break }
      let order = mine.compare(to: theirs)
      if order == 0 {
        try mine.next()
        try theirs.next()
      } else {
        differences += 1
        let isMine = order < 0
        try report(
          isMine ? "-" : "+", old ?? new, isMine ? mine.key : theirs.key, isMine ? mine.value : theirs.value, context)
        if isMine { try mine.next() } else { try theirs.next() }
      }
      try context.progress.step("\(differences) differences")
    }
    return differences
  }

  private func report(
    _ sign: String, _ tree: Tree?, _ key: [UInt8]?, _ value: [UInt8]?, _ context: Context
  ) throws(Failure) {
    if isBrief { return }
    let title = tree?.title ?? "main"
    if format == .jsonl {
      let json = RecordFormat(kind: .jsonl)
      let name = tree?.name.map { json.json(Tree.trimmed($0)) } ?? "null"
      let record = key.map { ",\"k\":\(json.json($0)),\"v\":\(json.json(value ?? []))" } ?? ""
      return try context.output.line("{\"in\":\"\(sign == "-" ? "a" : "b")\",\"db\":\(name)\(record)}")
    }
    let sign = context.output.style(sign, sign == "-" ? .red : .green)
    guard let key else { return try context.output.line("\(sign) \(title)") }
    let text = String(escaping: Array((value ?? []).prefix(60)))
    let rest = (value?.count ?? 0) > 60 ? " …(\(size(value?.count ?? 0)))" : ""
    try context.output.line("\(sign) \(title)  \(String(escaping: key))  \(text)\(rest)")
  }
}

/// The records of one of the two files, one at a time.
private struct Side: ~Copyable {
  private let reading: Reading
  private var records: RecordCursor
  private let order: KeyOrder
  private let valueOrder: KeyOrder
  private(set) var hasRecord = false
  private(set) var key: [UInt8] = []
  private(set) var value: [UInt8] = []

  init(_ reading: Reading, _ snapshot: Snapshot, _ tree: Tree?) throws(Failure) {
    self.reading = reading
    let tree = tree ?? .empty(snapshot.layout)
    order = .keys(of: tree.flags, snapshot.layout)
    valueOrder = .duplicates(of: tree.flags, snapshot.layout)
    do throws(ReadError) {
      records = try RecordCursor(snapshot, tree)
    } catch {
      throw Failure(error, reading.path)
    }
  }

  mutating func next() throws(Failure) {
    do throws(ReadError) {
      repeat {
        hasRecord = try records.next()
        // Databases are compared by themselves.
      } while hasRecord && records.isDatabase
      if !hasRecord { return }
      key = records.key.array
      value = try records.value()
    } catch {
      throw Failure(error, reading.path)
    }
  }

  /// Which comes first; zero if both records are the same.
  func compare(to other: borrowing Side) -> Int {
    guard hasRecord else { return 1 }
    guard other.hasRecord else { return -1 }
    let (mine, theirs) = (key.span, other.key.span)
    let byKey = order.compare(mine, theirs) ?? mine.count - theirs.count
    if byKey != 0 { return byKey }
    let (myValue, theirValue) = (value.span, other.value.span)
    let byValue = valueOrder.compare(myValue, theirValue) ?? myValue.count - theirValue.count
    return byValue
  }
}
