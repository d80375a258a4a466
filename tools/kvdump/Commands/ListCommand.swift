import Holdfast
import LMDBFile

/// `ls PATH`: the databases of an environment.
struct ListCommand: Command {
  static let help = Help(
    "ls", "PATH", "lists the databases, and how large each is",
    details: "Pages of duplicates that have trees of their own, which LMDB leaves out, are walked and counted.",
    options: [.init("-F, --format", value: "FORMAT", "table (usual) or jsonl")] + Help.reading,
    example: "kvdump ls .build/quickstart/store")

  private enum Format: String, CaseIterable { case table, jsonl }

  private let reading: Reading
  private let format: Format

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    format = try arguments.choice("--format") ?? .table
  }

  func run(_ context: Context) throws(Failure) {
    try context.read(reading) { (snapshot) throws(Failure) in
      let rows = try reading.naming { () throws(ReadError) in try self.rows(snapshot) }
      if format == .jsonl {
        for row in rows {
          try context.output.line(
            "{\"db\":\(row.tree.name == nil ? "null" : JSONText.quoted(row.tree.title)),\"flags\":\"\(row.flags)\","
              + "\"entries\":\(row.tree.entries),\"depth\":\(row.tree.depth),\"pages\":\(row.pages),\"bytes\":\(row.bytes)}"
          )
        }
        return
      }
      let total = max(1, snapshot.meta.usedBytes)
      let cells = rows.map { row in
        [
          row.tree.title, row.flags.isEmpty ? "-" : row.flags, "\(row.tree.entries)", "\(row.tree.depth)",
          "\(row.pages)",
          size(row.bytes), "\(Int((Double(row.bytes) * 100 / Double(total)).rounded()))%",
        ]
      }
      try context.output.table(
        cells, under: ["DATABASE", "FLAGS", "ENTRIES", "DEPTH", "PAGES", "SIZE", "OF FILE"], right: [2, 3, 4, 5, 6])
    }
  }

  private struct Row {
    let tree: Tree
    let pages: Int
    let bytes: Int
    var flags: String { DumpWriter.flags.filter { tree.flags.contains($0.0) }.map(\.1).joined(separator: ",") }
  }

  private func rows(_ snapshot: Snapshot) throws(ReadError) -> [Row] {
    var rows: [Row] = []
    var walker = TreeWalker(snapshot)
    for tree in [snapshot.main] + (try snapshot.databases()) {
      var pages = tree.pages
      if tree.flags.contains(.duplicates) {
        pages = walker.walk(tree).pages
      }
      rows.append(Row(tree: tree, pages: pages, bytes: pages * snapshot.layout.pageSize))
    }
    return rows
  }
}
