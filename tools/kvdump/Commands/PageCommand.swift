import LMDBFile

/// `page PATH N`: what is on one page.
struct PageCommand: Command {
  static let help = Help(
    "page", "PATH N", "shows what is on one page, also on a damaged one",
    options: [.init("--hex", "the bytes too")] + Help.reading,
    example: "kvdump page .build/quickstart/store 0 --hex")

  private let reading: Reading
  private let number: Int
  private let showsBytes: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    let word = try arguments.operand("the number of a page")
    guard let number = Int(word), number >= 0, number < Int.max / 65536 else {
      throw Failure(.usage, "\(printable(word)) is no number of a page; `kvdump pages` lists them")
    }
    self.number = number
    showsBytes = arguments.has("--hex")
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(Reading(reading, readable: true)) { (snapshot) throws(Failure) in
      let page = try reading.naming { () throws(ReadError) in try PageDescription(number, of: snapshot) }
      try context.output.line("page \(number): \(page.kind), \(count(page.items.count, "node"))")
      if number < 2 { try describeMeta(snapshot, context) }
      let rows = page.items.enumerated().map { index, item in ["  \(index)", String(escaping: item.key), item.what] }
      try context.output.table(rows, right: [0])
      if showsBytes { try context.output.write(HexDump.lines(page.bytes, from: number * snapshot.layout.pageSize)) }
      if let problem = page.problem {
        throw Failure(.damagedData, "\(printable(reading.path)): page \(number): \(problem)")
      }
    }
  }

  private func describeMeta(_ snapshot: Snapshot, _ context: Context) throws(Failure) {
    let metas = try reading.naming { () throws(ReadError) in try snapshot.file.metas() }
    guard let page = metas.first(where: { $0.number == number }) else { return }
    if let meta = page.meta {
      try context.output.table([
        ["  commit", "\(meta.transactionID)"], ["  last page", "\(meta.lastPage)"], ["  map size", "\(meta.mapSize)"],
        ["  main", root(of: meta.main)], ["  free list", root(of: meta.free)],
      ])
    }
    if let problem = page.problem { try context.output.line("  damaged: \(problem)") }
  }

  private func root(of tree: Tree) -> String {
    guard let root = tree.root else { return "empty" }
    return "page \(root), depth \(tree.depth), \(count(tree.entries, "record"))"
  }
}
