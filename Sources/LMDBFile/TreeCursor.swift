/// A place in a tree, by node of a leaf, that moves both ways.
///
/// Reads each page once, into memory of one page a level. A page that is reached twice, or at a wrong depth, is damage,
/// so every walk ends.
struct TreeCursor {
  private struct Step {
    var page = Page()
    var index = 0
  }

  let snapshot: Snapshot
  private let root: Int?
  private let depth: Int
  private let title: String
  /// The branches above the leaf.
  private var path: [Step] = []
  private(set) var leaf = Page()
  private(set) var index = 0
  private(set) var isOn = false
  /// The pages reached since the cursor was placed or turned round, among which none comes twice.
  private var visited: PageSet
  private var isPlaced = false
  private var direction = Side.first

  /// Makes a cursor on no record; pages that were `visited` before, by a cursor that leads here, do not come again.
  init(_ snapshot: Snapshot, _ tree: Tree, visited: PageSet = PageSet()) throws(ReadError) {
    guard tree.root == nil || (1...64).contains(tree.depth) else {
      throw ReadError(.damaged, "\(tree.title): a depth of \(tree.depth) is recorded")
    }
    self.snapshot = snapshot
    root = tree.root
    depth = tree.depth
    title = tree.title
    self.visited = visited
  }

  private enum Side { case first, last }

  mutating func moveToFirst() throws(ReadError) { try moveToEnd(.first) }

  mutating func moveToLast() throws(ReadError) { try moveToEnd(.last) }

  private mutating func moveToEnd(_ side: Side) throws(ReadError) {
    restart()
    direction = side
    guard let root else { return }
    try descend(to: root, side)
  }

  private mutating func restart() {
    if isPlaced { visited = PageSet() }
    isPlaced = true
    path.removeAll(keepingCapacity: true)
    isOn = false
  }

  mutating func moveToNext() throws(ReadError) {
    if index + 1 < leaf.frame.count {
      index += 1
    } else {
      try climb(.first)
    }
  }

  mutating func moveToPrevious() throws(ReadError) {
    if index > 0 { index -= 1 } else { try climb(.last) }
  }

  private mutating func climb(_ side: Side) throws(ReadError) {
    isOn = false
    if side != direction { visited = PageSet() }
    direction = side
    var steps: [Step] = []
    while var step = path.popLast() {
      let next = side == .first ? step.index + 1 : step.index - 1
      if next >= 0 && next < step.page.frame.count {
        step.index = next
        path.append(step)
        return try descend(to: try child(), side, reusing: &steps)
      }
      steps.append(step)
    }
  }

  /// The page below the last branch of the path.
  private func child() throws(ReadError) -> Int {
    guard let step = path.last else { return 0 }
    let bytes = step.page.bytes.span
    do throws(Flaw) {
      return try step.page.frame.node(step.index, in: bytes, snapshot.layout).child
    } catch {
      throw .damaged(step.page.number, error.what)
    }
  }

  private mutating func descend(to number: Int, _ side: Side) throws(ReadError) {
    var none: [Step] = []
    try descend(to: number, side, reusing: &none)
  }

  private mutating func descend(to number: Int, _ side: Side, reusing steps: inout [Step]) throws(ReadError) {
    var number = number
    while path.count < depth - 1 {
      var step = steps.popLast() ?? Step()
      try visit(number)
      try snapshot.read(number, into: &step.page)
      guard step.page.frame.kind == .branch else { throw wrongDepth(number) }
      step.index = side == .first ? 0 : step.page.frame.count - 1
      path.append(step)
      number = try child()
    }
    try readLeaf(number)
    index = side == .first ? 0 : leaf.frame.count - 1
    isOn = true
  }

  private mutating func readLeaf(_ number: Int) throws(ReadError) {
    try visit(number)
    try snapshot.read(number, into: &leaf)
    guard leaf.frame.kind != .branch else { throw wrongDepth(number) }
  }

  private func wrongDepth(_ number: Int) -> ReadError {
    .damaged(number, "\(title) has a depth of \(depth), to which this page does not fit")
  }

  /// Forgets what was visited, as when the direction changes.
  mutating func forgetVisits() { visited = PageSet() }

  /// Gives up what was visited, to another cursor that goes on for this one.
  mutating func takeVisits() -> PageSet {
    defer { visited = PageSet() }
    return visited
  }

  /// Goes on with what another cursor has visited.
  mutating func returnVisits(_ visits: PageSet) { visited = visits }

  /// Notes a page: one of the tree, or one that a record leads to.
  mutating func visit(_ number: Int) throws(ReadError) {
    if !visited.insert(number) { throw .damaged(number, "it is reached twice in \(title)") }
  }

  /// Moves to the first node whose key is at or after `key`.
  mutating func seek(to key: [UInt8], _ order: KeyOrder) throws(ReadError) {
    restart()
    direction = .first
    guard var number = root else { return }
    while path.count < depth - 1 {
      var step = Step()
      try visit(number)
      try snapshot.read(number, into: &step.page)
      guard step.page.frame.kind == .branch else { throw wrongDepth(number) }
      // The first key of a branch stands for everything below the second.
      step.index = max(1, try firstIndex(in: step.page, from: 1, notBelow: key, order, orEqual: false)) - 1
      path.append(step)
      number = try child()
    }
    try readLeaf(number)
    index = try firstIndex(in: leaf, from: 0, notBelow: key, order, orEqual: true)
    if index == leaf.frame.count {
      index -= 1
      try climb(.first)
    } else {
      isOn = true
    }
  }

  /// The first node at or after `key`, or after it; the number of nodes if there is none.
  private func firstIndex(
    in page: Page, from start: Int, notBelow key: [UInt8], _ order: KeyOrder, orEqual: Bool
  ) throws(ReadError) -> Int {
    let bytes = page.bytes.span
    let wanted = key.span
    var (low, high) = (start, page.frame.count)
    do throws(Flaw) {
      while low < high {
        let middle = (low + high) / 2
        let range = try page.frame.key(middle, in: bytes, snapshot.layout)
        let found = bytes.extracting(range)
        let comparison = order.compare(found, wanted) ?? found.count - wanted.count
        if comparison < 0 || (comparison == 0 && !orEqual) { low = middle + 1 } else { high = middle }
      }
    } catch {
      throw .damaged(page.number, error.what)
    }
    return low
  }
}
