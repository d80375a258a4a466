/// Visits every page of some trees, notes what is wrong, and goes on.
package struct TreeWalker {
  /// A page, or the pages of a value, as the walk comes to it.
  package struct Visit: Sendable {
    package enum Kind: String, Sendable, CaseIterable { case branch, leaf, overflow, duplicates }
    package let page: Int
    package let count: Int
    package let kind: Kind
  }

  /// Problems that are listed; what comes after is only counted.
  static let problemLimit = 1000

  let snapshot: Snapshot
  /// All pages reached so far.
  package private(set) var used = PageSet()
  package private(set) var problems: [Problem] = []
  package private(set) var unlisted = 0
  /// Called for each page.
  package var onVisit: ((Visit) -> Void)?
  /// Called for each sound leaf of the tree that is walked, not of trees of duplicates in it.
  var onLeaf: ((Page, Tree) -> Void)?
  private var walksValues = false

  private var tree: Tree
  private var title = ""
  private var isInner = false
  private var check = OrderCheck(.bytes)
  private var pool: [Page] = []

  /// Makes a walker; pages that were reached before are damage where it comes to them.
  package init(_ snapshot: Snapshot, reached used: PageSet = PageSet()) {
    self.snapshot = snapshot
    self.used = used
    tree = snapshot.main
  }

  package mutating func add(_ problem: Problem) {
    if problems.count < Self.problemLimit { problems.append(problem) } else { unlisted += 1 }
  }

  private mutating func note(_ error: ReadError, _ summary: inout TreeSummary) {
    summary.isComplete = false
    add(Problem(.error, page: error.page, database: title, error.phrase))
  }

  /// Walks a tree and compares what it finds with what is recorded.
  package mutating func walk(_ tree: Tree, title: String? = nil) -> TreeSummary {
    var summary = TreeSummary()
    walk(tree, title: title ?? tree.title, isInner: false, &summary)
    return summary
  }

  /// Walks a tree of values under one key.
  mutating func walkValues(_ tree: Tree) -> TreeSummary {
    walksValues = true
    defer { walksValues = false }
    var summary = TreeSummary()
    walk(tree, title: tree.title, isInner: true, &summary)
    return summary
  }

  private mutating func walk(_ tree: Tree, title: String, isInner: Bool, _ summary: inout TreeSummary) {
    let outside = (self.tree, self.title, self.isInner, check)
    defer { (self.tree, self.title, self.isInner, check) = outside }
    (self.tree, self.title, self.isInner) = (tree, title, isInner)
    check = OrderCheck(
      isInner ? .duplicates(of: outside.0.flags, snapshot.layout) : .keys(of: tree.flags, snapshot.layout))
    if let root = tree.root {
      if (1...64).contains(tree.depth) {
        walk(root, level: 1, &summary)
      } else {
        note(ReadError(.damaged, "a depth of \(tree.depth) is recorded"), &summary)
      }
    }
    compare(summary)
  }

  private mutating func compare(_ found: TreeSummary) {
    func differs(_ name: String, _ walked: Int, _ recorded: Int) -> Problem? {
      walked == recorded
        ? nil : Problem(.error, database: title, "\(walked) \(name) were walked, and \(recorded) are recorded")
    }
    for problem in [
      differs("entries", found.entries, tree.entries), differs("branch pages", found.branchPages, tree.branchPages),
      differs("leaf pages", found.leafPages, tree.leafPages),
      differs("overflow pages", found.overflowPages, tree.overflowPages),
    ] {
      if let problem { add(problem) }
    }
  }

  private mutating func walk(_ number: Int, level: Int, _ summary: inout TreeSummary) {
    var page = pool.popLast() ?? Page()
    do throws(ReadError) {
      guard number < 2 || number > snapshot.meta.lastPage || used.insert(number) else {
        throw .damaged(number, "it is reached twice")
      }
      try snapshot.read(number, into: &page)
      if level < tree.depth {
        guard page.frame.kind == .branch else { throw .damaged(number, "a page of branches is expected") }
        summary.branchPages += 1
        onVisit?(Visit(page: number, count: 1, kind: isInner ? .duplicates : .branch))
        walkChildren(of: page, level: level, &summary)
      } else {
        guard page.frame.kind != .branch else { throw .damaged(number, "a leaf is expected") }
        guard isInner || page.frame.kind == .leaf else {
          throw .damaged(number, "it holds duplicates, where keys are expected")
        }
        summary.leafPages += 1
        onVisit?(Visit(page: number, count: 1, kind: isInner ? .duplicates : .leaf))
        checkOrder(of: page, &summary)
        if isInner { summary.entries += page.frame.count } else { walkNodes(of: page, &summary) }
        if isInner == walksValues { onLeaf?(page, tree) }
      }
    } catch {
      note(error, &summary)
    }
    pool.append(page)
  }

  private mutating func walkChildren(of page: Page, level: Int, _ summary: inout TreeSummary) {
    for index in 0..<page.frame.count {
      do throws(ReadError) {
        walk(try page.node(index, snapshot.layout).child, level: level + 1, &summary)
      } catch {
        note(error, &summary)
      }
    }
  }

  private mutating func checkOrder(of page: Page, _ summary: inout TreeSummary) {
    if page.frame.count > 1 { summary.comparableLeaves += 1 }
    // A node that cannot be read is noted with its value.
    if !page.isSorted(&check, snapshot.layout) { summary.unsortedLeaves.append(page.number) }
  }

  private mutating func walkNodes(of page: Page, _ summary: inout TreeSummary) {
    for index in 0..<page.frame.count {
      do throws(ReadError) {
        let node = try page.node(index, snapshot.layout)
        if node.flags.contains(.duplicates) {
          try walkDuplicates(of: node, at: index, on: page, &summary)
        } else {
          if node.flags.contains(.overflow) { try walkValue(of: node, on: page, &summary) }
          summary.entries += 1
        }
      } catch {
        note(error, &summary)
      }
    }
  }

  private mutating func walkValue(of node: Node, on page: Page, _ summary: inout TreeSummary) throws(ReadError) {
    let (_, first, pages) = try snapshot.overflow(page, node)
    summary.overflowPages += pages
    for number in first..<first + pages where !used.insert(number) { throw .damaged(number, "it is reached twice") }
    onVisit?(Visit(page: first, count: pages, kind: .overflow))
  }

  private mutating func walkDuplicates(
    of node: Node, at index: Int, on page: Page, _ summary: inout TreeSummary
  ) throws(ReadError) {
    guard tree.flags.contains(.duplicates) else {
      throw .damaged(page.number, "node \(index) has duplicates, in a database without")
    }
    if node.flags.contains(.tree) {
      guard node.valueCount == snapshot.layout.treeRecordSize else {
        throw .damaged(page.number, "node \(index) should describe a tree of duplicates")
      }
      var inner = TreeSummary()
      walk(page.tree(of: node, snapshot.layout, name: tree.name), title: title, isInner: true, &inner)
      summary.entries += inner.entries
      summary.duplicatePages += inner.pages
      summary.isComplete = summary.isComplete && inner.isComplete
      if !inner.unsortedLeaves.isEmpty { summary.unsortedDuplicates += 1 }
      return
    }
    do throws(Flaw) {
      let (count, isSorted) = try page.innerPage(
        of: node, order: .duplicates(of: tree.flags, snapshot.layout), snapshot.layout)
      summary.entries += count
      if !isSorted { summary.unsortedDuplicates += 1 }
    } catch {
      throw .damaged(page.number, "the duplicates in node \(index): \(error.what)")
    }
  }

  /// Notes pages that are reached by another way, such as the list of free ones.
  package mutating func claim(_ page: Int) -> Bool { used.insert(page) }
}

extension Page {
  func node(_ index: Int, _ layout: Layout) throws(ReadError) -> Node {
    let bytes = bytes.span
    do throws(Flaw) {
      return try frame.node(index, in: bytes, layout)
    } catch {
      throw .damaged(number, error.what)
    }
  }

  /// Whether the keys ascend from the page before on; one that cannot be read does not speak against it.
  func isSorted(_ check: inout OrderCheck, _ layout: Layout) -> Bool {
    let bytes = bytes.span
    return (try? check.isSorted(frame, bytes, layout)) ?? true
  }

  /// The tree that a value describes, whose size has been checked.
  func tree(of node: Node, _ layout: Layout, name: [UInt8]?) -> Tree {
    Tree(bytes.span, at: node.value, layout, name: name)
  }

  /// How many duplicates there are on the page inside a node, and whether they are in order.
  func innerPage(of node: Node, order: KeyOrder, _ layout: Layout) throws(Flaw) -> (count: Int, isSorted: Bool) {
    let bytes = bytes.span
    let range = node.valueRange
    let frame = try Frame(bytes, base: range.lowerBound, limit: range.upperBound, isInner: true, layout)
    var check = OrderCheck(order)
    return (frame.count, try check.isSorted(frame, bytes, layout))
  }
}

extension ReadError {
  /// The description without the page, for a list that has it in a column of its own.
  var phrase: String {
    guard let page, description.hasPrefix("page \(page): ") else { return description }
    return String(description.dropFirst("page \(page): ".count))
  }
}
