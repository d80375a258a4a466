/// Checks a whole file, by reading every page that it uses.
package struct Verifier {
  /// What was found.
  package struct Report: Sendable {
    package var problems: [Problem] = []
    /// Problems that were found beyond those listed.
    package var unlisted = 0
    package var pagesChecked = 0
    package var databases: [(tree: Tree, summary: TreeSummary)] = []

    package func count(_ severity: Problem.Severity) -> Int {
      problems.count { $0.severity == severity } + (severity == .error ? unlisted : 0)
    }
  }

  private let file: DataFile
  private let snapshot: Snapshot
  private let checksOrder: Bool
  private var walker: TreeWalker
  private var report = Report()

  /// Makes a check of one commit; the order of keys may be left out.
  package init(_ snapshot: Snapshot, checksOrder: Bool = true) {
    file = snapshot.file
    self.snapshot = snapshot
    self.checksOrder = checksOrder
    walker = TreeWalker(snapshot)
  }

  /// Checks header, size and the trees; a quick check leaves out named databases and the list of free pages.
  ///
  /// `progress` is called before each database, with the number of pages checked so far. Damage is not thrown but
  /// reported; what is thrown is that the file cannot be read at all.
  package mutating func run(isQuick: Bool = false, progress: (Int) -> Void = { _ in }) throws(ReadError) -> Report {
    try checkMetas()
    try checkSize()
    walk(snapshot.main, progress)
    if !isQuick {
      for database in databases() { walk(database, progress) }
      let free = walker.walk(snapshot.meta.free, title: "free list")
      checkFreePages(free)
    }
    report.problems += walker.problems
    report.unlisted += walker.unlisted
    report.pagesChecked = walker.used.count
    addHint()
    return report
  }

  private mutating func walk(_ tree: Tree, _ progress: (Int) -> Void) {
    progress(walker.used.count)
    if tree.flags.rawValue & ~Tree.Flags.known.rawValue != 0 {
      walker.add(
        Problem(.error, database: tree.title, "it has unknown flags, 0x\(String(tree.flags.rawValue, radix: 16))"))
    }
    let summary = walker.walk(tree)
    checkOrder(tree, summary)
    report.databases.append((tree, summary))
  }

  /// The named databases, as far as the main one can be read: each leaf for itself.
  private mutating func databases() -> [Tree] {
    var found: [Tree] = []
    var again = TreeWalker(snapshot)
    let layout = snapshot.layout
    again.onLeaf = { page, _ in
      for index in 0..<page.frame.count {
        guard let node = try? page.node(index, layout), node.flags == .tree,
          node.valueCount == layout.treeRecordSize
        else { continue }
        found.append(page.tree(of: node, layout, name: page.bytes.span.extracting(node.keyRange).array))
      }
    }
    _ = again.walk(snapshot.main)
    return found
  }

  private mutating func checkOrder(_ tree: Tree, _ summary: TreeSummary) {
    guard checksOrder else { return }
    if !summary.unsortedLeaves.isEmpty {
      let severity: Problem.Severity = summary.hasOwnKeyOrder ? .warning : .error
      let pages = summary.unsortedLeaves.dropFirst().prefix(5).map(String.init).joined(separator: ", ")
      let message =
        summary.hasOwnKeyOrder
        ? "keys are not in the declared order on \(summary.unsortedLeaves.count) of \(summary.comparableLeaves) leaves; "
          + "does its program set an order of its own?"
        : "keys are not in order" + (summary.unsortedLeaves.count > 1 ? ", also on pages \(pages)" : "")
      report.problems.append(Problem(severity, page: summary.unsortedLeaves.first, database: tree.title, message))
    }
    if summary.unsortedDuplicates > 0 {
      report.problems.append(
        Problem(
          .warning, database: tree.title,
          "\(summary.unsortedDuplicates) sets of duplicates are not in the declared order; "
            + "does its program set an order of its own?"))
    }
  }

  private mutating func checkMetas() throws(ReadError) {
    for page in try file.metas() {
      if let problem = page.problem {
        report.problems.append(Problem(.error, page: page.number, "meta page: \(problem)"))
      }
    }
  }

  private mutating func checkSize() throws(ReadError) {
    let size = try file.source.status().size
    let meta = snapshot.meta
    let pageSize = meta.layout.pageSize
    if meta.mapSize < UInt64(meta.usedBytes) {
      report.problems.append(
        Problem(.warning, "the map size is \(meta.mapSize), but \(meta.usedBytes) bytes are used; LMDB makes it larger")
      )
    }
    if meta.mapSize >= 1 << 47 {
      report.problems.append(
        Problem(
          .error, "the map size is \(meta.mapSize), which no process has the addresses for; LMDB cannot open this"))
    }
    if size % pageSize != 0 {
      report.problems.append(
        Problem(.warning, "the file has \(size % pageSize) bytes after its last whole page, which do not belong to it"))
    }
  }

  private mutating func checkFreePages(_ summary: TreeSummary) {
    guard summary.isComplete else { return }
    var listed = 0
    var wrong: [Problem] = []
    let lastPage = snapshot.meta.lastPage
    var claims: [Int] = []
    do throws(ReadError) {
      try snapshot.forEachFreePage { transaction, pages in
        listed += pages.count
        if zip(pages, pages.dropFirst()).contains(where: { $0.0 <= $0.1 }) && wrong.count < 10 {
          wrong.append(
            Problem(.error, database: "free list", "the pages freed by commit \(transaction) are not sorted"))
        }
        for page in pages {
          if page < 2 || page > lastPage {
            if wrong.count < 10 {
              wrong.append(
                Problem(.error, page: page, database: "free list", "it is listed, but the last page is \(lastPage)"))
            }
          } else {
            claims.append(page)
          }
        }
      }
    } catch {
      wrong.append(Problem(.error, page: error.page, database: "free list", error.phrase))
    }
    for page in claims where !walker.claim(page) {
      wrong.append(
        Problem(.error, page: page, database: "free list", "it is listed as free, but is in use or listed twice"))
    }
    for problem in wrong { walker.add(problem) }
    let missing = lastPage - 1 - walker.used.count
    if missing > 0 {
      // LMDB leaves none: what led to them is gone, perhaps with a database whose mark has been lost.
      walker.add(
        Problem(
          .error,
          "\(missing) page\(missing == 1 ? " is" : "s are") neither in use nor free, so that what led there is lost"))
    }
  }

  /// Says what to do, if something is lost.
  private mutating func addHint() {
    guard report.count(.error) > 0 else { return }
    let other = (try? file.metas())?.compactMap(\.sound).first { $0.number != snapshot.meta.number }
    if let other, other.main.root != nil, other.transactionID < snapshot.meta.transactionID {
      report.problems.append(
        Problem(
          .hint, page: other.number,
          "commit \(other.transactionID) is still named by meta page \(other.number): "
            + "look with `--meta \(other.number)`, or keep what can be read with `kvdump recover`"))
    } else {
      report.problems.append(Problem(.hint, "keep what can be read with `kvdump recover`"))
    }
  }
}
