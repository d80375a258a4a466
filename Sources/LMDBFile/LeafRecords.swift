/// Reads the records of one leaf, each for itself, so that one that is damaged does not hide the others.
struct LeafRecords {
  let snapshot: Snapshot
  /// How many could not be read.
  private(set) var lost = 0
  /// The pages that were read beside leaves; no two records have the same.
  private(set) var used: PageSet

  init(_ snapshot: Snapshot, read used: PageSet = PageSet()) {
    self.snapshot = snapshot
    self.used = used
  }

  /// Calls `body` for each record; a description of a database is none, and goes to `database`.
  mutating func forEach(
    of page: Page, database: (Tree) -> Void = { _ in },
    _ body: (_ key: [UInt8], _ value: [UInt8], _ isDuplicate: Bool) -> Void
  ) {
    let layout = snapshot.layout
    for index in 0..<page.frame.count {
      guard let node = try? page.node(index, layout) else {
        lost += 1
        continue
      }
      let key = page.bytes.span.extracting(node.keyRange).array
      if node.flags.contains(.duplicates) {
        forEachDuplicate(of: node, on: page) { body(key, $0, true) }
      } else if node.flags.contains(.tree) {
        if node.valueCount == layout.treeRecordSize {
          database(page.tree(of: node, layout, name: key))
        } else {
          lost += 1
        }
      } else if node.flags.contains(.overflow) {
        if let value = try? overflow(of: node, on: page) { body(key, value, false) } else { lost += 1 }
      } else {
        body(key, page.bytes.span.extracting(node.valueRange).array, false)
      }
    }
  }

  private mutating func overflow(of node: Node, on page: Page) throws(ReadError) -> [UInt8] {
    let (offset, first, pages) = try snapshot.overflow(page, node)
    guard node.valueCount <= RecordCursor.valueLimit else {
      throw ReadError(.tooLarge, "a value has \(node.valueCount) bytes")
    }
    for number in first..<first + pages where !used.insert(number) { throw .damaged(number, "it is reached twice") }
    let value = try snapshot.file.source.bytes(at: offset, count: node.valueCount)
    guard value.count == node.valueCount else { throw .damaged(first, "the file ends before the value") }
    return value
  }

  private mutating func forEachDuplicate(of node: Node, on page: Page, _ body: ([UInt8]) -> Void) {
    let layout = snapshot.layout
    if node.flags.contains(.tree) {
      guard node.valueCount == layout.treeRecordSize else { return lost += 1 }
      let tree = page.tree(of: node, layout, name: nil)
      var walker = TreeWalker(snapshot, reached: used)
      var values: [[UInt8]] = []
      walker.onLeaf = { leaf, _ in values += (0..<leaf.frame.count).compactMap { leaf.key($0, layout) } }
      _ = walker.walkValues(tree)
      used = walker.used
      lost += max(0, tree.entries - values.count)
      values.forEach(body)
      return
    }
    guard let frame = page.inner(of: node, layout) else { return lost += 1 }
    for index in 0..<frame.count {
      if let value = page.key(index, in: frame, layout) { body(value) } else { lost += 1 }
    }
  }
}

extension Page {
  /// A copy of a key, if it can be read.
  func key(_ index: Int, _ layout: Layout) -> [UInt8]? { key(index, in: frame, layout) }

  func key(_ index: Int, in frame: Frame, _ layout: Layout) -> [UInt8]? {
    let bytes = bytes.span
    guard let range = try? frame.key(index, in: bytes, layout) else { return nil }
    return bytes.extracting(range).array
  }

  func inner(of node: Node, _ layout: Layout) -> Frame? {
    let bytes = bytes.span
    let range = node.valueRange
    return try? Frame(bytes, base: range.lowerBound, limit: range.upperBound, isInner: true, layout)
  }
}
