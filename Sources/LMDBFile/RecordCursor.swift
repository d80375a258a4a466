/// Walks the records of a database in its order, each value under a key a record of its own.
///
/// ```
/// var records = try RecordCursor(snapshot, tree)
/// while try records.next() {
///   try records.readValue { part in … }
/// }
/// ```
package struct RecordCursor: ~Copyable {
  /// The most bytes of a value that ``readValue(_:)`` hands out at once; a multiple of 3, for base64.
  package static let partSize = 3 << 18

  private let snapshot: Snapshot
  private let tree: Tree
  package let keyOrder: KeyOrder
  private var outer: TreeCursor
  private var node = Node(key: 0, keyCount: 0, value: 0, valueCount: 0, flags: [])
  private var duplicates = Duplicates.none
  private var inner: TreeCursor?
  private var position = Position.outside
  private var buffer: [UInt8] = []
  private var check: OrderCheck
  private var checkedLeaf = 0
  /// What has been seen so far, if every step went forward.
  private var seen = TreeSummary()

  private var isForward = true

  private enum Position { case outside, on, past }

  /// The values under the current key.
  private enum Duplicates {
    case none
    /// On a page inside the node.
    case inner(Frame, index: Int)
    /// In a tree of their own, through which ``inner`` walks.
    case tree
  }

  package init(_ snapshot: Snapshot, _ tree: Tree) throws(ReadError) {
    self.snapshot = snapshot
    self.tree = tree
    keyOrder = .keys(of: tree.flags, snapshot.layout)
    check = OrderCheck(.keys(of: tree.flags, snapshot.layout))
    outer = try TreeCursor(snapshot, tree)
  }

  // MARK: The current record

  /// The key.
  package var key: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get { outer.leaf.bytes.span.extracting(node.keyRange) }
  }

  /// How many bytes the value has.
  package var valueCount: Int {
    switch duplicates {
    case .none: node.valueCount
    case .inner(let frame, let index): Self.range(of: index, in: frame, outer.leaf, snapshot.layout).count
    case .tree: inner.map { Self.range(of: $0.index, in: $0.leaf.frame, $0.leaf, snapshot.layout).count } ?? 0
    }
  }

  /// Whether the value describes a database, which only happens in the main one.
  package var isDatabase: Bool { node.flags.contains(.tree) && !node.flags.contains(.duplicates) }

  /// The database that the value describes; `nil` if it does not.
  package var database: Tree? {
    guard isDatabase, node.valueCount == snapshot.layout.treeRecordSize else { return nil }
    let bytes = outer.leaf.bytes.span
    return Tree(bytes, at: node.value, snapshot.layout, name: bytes.extracting(node.keyRange).array)
  }

  /// Hands out the value, at least once: in parts of ``partSize`` bytes if it is larger.
  package mutating func readValue<E: Error>(_ body: (Span<UInt8>) throws(E) -> Void) throws(ReadFailure<E>) {
    do throws(E) {
      switch duplicates {
      case .none:
        if node.flags.contains(.overflow) { break }
        return try body(outer.leaf.bytes.span.extracting(node.valueRange))
      case .inner(let frame, let index):
        let range = Self.range(of: index, in: frame, outer.leaf, snapshot.layout)
        return try body(outer.leaf.bytes.span.extracting(range))
      case .tree:
        guard let cursor = inner else { return }
        let range = Self.range(of: cursor.index, in: cursor.leaf.frame, cursor.leaf, snapshot.layout)
        return try body(cursor.leaf.bytes.span.extracting(range))
      }
    } catch {
      throw .body(error)
    }
    try readOverflow(body)
  }

  private mutating func readOverflow<E: Error>(_ body: (Span<UInt8>) throws(E) -> Void) throws(ReadFailure<E>) {
    let start: Int
    let first: Int
    do throws(ReadError) {
      (start, first, _) = try snapshot.overflow(outer.leaf, node)
    } catch {
      throw .file(error)
    }
    var done = 0
    repeat {
      let count = min(Self.partSize, node.valueCount - done)
      if buffer.count < count { buffer = [UInt8](repeating: 0, count: count) }
      do throws(ReadError) {
        guard try snapshot.file.source.read(into: &buffer, count: count, at: start + done) == count else {
          throw ReadError.damaged(first, "the file ends before the value that starts here; it has been cut off")
        }
      } catch {
        throw .file(error)
      }
      do throws(E) {
        try body(buffer.span.extracting(0..<count))
      } catch {
        throw .body(error)
      }
      done += count
    } while done < node.valueCount
  }

  /// The most bytes of a value that are taken into memory: what a cache keeps in its data file has at most 256 MiB.
  package static let valueLimit = 257 << 20

  /// A copy of the value.
  ///
  /// - Throws: `tooLarge` if it has more than `limit` bytes.
  package mutating func value(limit: Int = valueLimit) throws(ReadError) -> [UInt8] {
    guard valueCount <= limit else {
      throw ReadError(.tooLarge, "a value has \(valueCount) bytes, and at most \(limit) can be taken at once")
    }
    var bytes: [UInt8] = []
    do throws(ReadFailure<Never>) {
      try readValue { part in bytes.append(contentsOf: part.array) }
    } catch {
      if case .file(let error) = error { throw error }
    }
    return bytes
  }

  private static func range(of index: Int, in frame: Frame, _ page: Page, _ layout: Layout) -> Range<Int> {
    let bytes = page.bytes.span
    // Checked when the cursor came here.
    return (try? frame.key(index, in: bytes, layout)) ?? 0..<0
  }

  // MARK: Moving

  /// Moves to the next record; from outside, to the first.
  ///
  /// - Returns: Whether there is one.
  package mutating func next() throws(ReadError) -> Bool {
    face(forward: true)
    switch position {
    case .past: return false
    case .outside: try outer.moveToFirst()
    case .on:
      if try moveInside(forward: true) { return true }
      leaveDuplicates()
      try outer.moveToNext()
    }
    return try settle(forward: true)
  }

  /// Moves to the previous record; from outside, to the last.
  ///
  /// - Returns: Whether there is one.
  package mutating func previous() throws(ReadError) -> Bool {
    face(forward: false)
    switch position {
    case .past: return false
    case .outside: try outer.moveToLast()
    case .on:
      if try moveInside(forward: false) { return true }
      leaveDuplicates()
      try outer.moveToPrevious()
    }
    return try settle(forward: false)
  }

  /// Moves to the first record whose key is at or after `key`.
  ///
  /// - Returns: Whether there is one.
  package mutating func seek(to key: [UInt8]) throws(ReadError) -> Bool {
    duplicates = .none
    try outer.seek(to: key, keyOrder)
    return try settle(forward: true)
  }

  /// Moves to the last record whose key is at or before `key`.
  package mutating func seek(toLastUpTo key: [UInt8]) throws(ReadError) -> Bool {
    duplicates = .none
    try outer.seek(to: key, keyOrder)
    if outer.isOn {
      let wanted = key.span
      let found = try currentNode()
      let isExact = keyOrder.compare(outer.leaf.bytes.span.extracting(found.keyRange), wanted) == 0
      if !isExact { try outer.moveToPrevious() }
    } else {
      try outer.moveToLast()
    }
    return try settle(forward: false)
  }

  private mutating func face(forward: Bool) {
    if forward != isForward {
      outer.forgetVisits()
      inner?.forgetVisits()
    }
    isForward = forward
  }

  private mutating func leaveDuplicates() {
    if case .tree = duplicates, let visits = inner?.takeVisits() { outer.returnVisits(visits) }
    duplicates = .none
  }

  /// Notes the pages of a value, which no other record has: a file in which many share some has been tampered with, and
  /// could be read for ever.
  private mutating func visitValue() throws(ReadError) {
    let first = outer.leaf.reference(of: node, snapshot.layout)
    let pages = snapshot.layout.overflowPages(for: node.valueCount)
    // Others are an error once the value is read.
    guard first >= 2, first <= snapshot.meta.lastPage, pages <= snapshot.meta.lastPage - first + 1 else { return }
    for page in first..<first + pages { try outer.visit(page) }
  }

  /// Takes up the node on which the outer cursor has come to stand.
  private mutating func settle(forward: Bool) throws(ReadError) -> Bool {
    guard outer.isOn else {
      position = .past
      return false
    }
    node = try currentNode()
    position = .on
    seen.entries += 1
    if checkedLeaf != outer.leaf.number { checkLeaf() }
    if node.flags.contains(.overflow) { try visitValue() }
    if node.flags.contains(.duplicates) { try enterDuplicates(forward: forward) }
    return true
  }

  private mutating func checkLeaf() {
    checkedLeaf = outer.leaf.number
    if outer.leaf.frame.count > 1 { seen.comparableLeaves += 1 }
    // A node that cannot be read is an error once the cursor comes to it.
    let isSorted = outer.leaf.isSorted(&check, snapshot.layout)
    if !isSorted { seen.unsortedLeaves.append(outer.leaf.number) }
  }

  /// Says whether a walk from the first record to the last can be trusted.
  ///
  /// - Throws: `damaged` if there were more or fewer records than the file says, or if keys are out of order in a few
  ///   places; a program's own order shows nearly everywhere.
  package func finish() throws(ReadError) {
    guard seen.entries == tree.entries else {
      throw ReadError(
        .damaged, "\(tree.title): \(seen.entries) records were read, and \(tree.entries) are recorded")
    }
    if let page = seen.unsortedLeaves.first, !seen.hasOwnKeyOrder {
      throw ReadError(
        .damaged,
        "page \(page): its keys are not in order, so that LMDB would not find them all; if the program has an order of its "
          + "own, add --ignore-order", page: page)
    }
  }

  private func currentNode() throws(ReadError) -> Node {
    let bytes = outer.leaf.bytes.span
    do throws(Flaw) {
      guard outer.leaf.frame.kind == .leaf else { throw Flaw("it holds duplicates, where keys are expected") }
      return try outer.leaf.frame.node(outer.index, in: bytes, snapshot.layout)
    } catch {
      throw .damaged(outer.leaf.number, error.what)
    }
  }

  private mutating func enterDuplicates(forward: Bool) throws(ReadError) {
    if node.flags.contains(.tree) {
      guard node.valueCount == snapshot.layout.treeRecordSize else {
        throw damaged("node \(outer.index) should describe a tree of duplicates, in \(node.valueCount) bytes")
      }
      let values = Tree(outer.leaf.bytes.span, at: node.value, snapshot.layout, name: tree.name)
      var cursor = try TreeCursor(snapshot, values, visited: outer.takeVisits())
      if forward { try cursor.moveToFirst() } else { try cursor.moveToLast() }
      guard cursor.isOn else { throw damaged("node \(outer.index) has an empty tree of duplicates") }
      try Self.check(cursor)
      inner = cursor
      duplicates = .tree
    } else {
      let frame = try innerFrame()
      let index = forward ? 0 : frame.count - 1
      try checkInner(index, in: frame)
      duplicates = .inner(frame, index: index)
    }
  }

  private func damaged(_ what: String) -> ReadError { .damaged(outer.leaf.number, what) }

  private func innerFrame() throws(ReadError) -> Frame {
    let bytes = outer.leaf.bytes.span
    let range = node.valueRange
    do throws(Flaw) {
      return try Frame(bytes, base: range.lowerBound, limit: range.upperBound, isInner: true, snapshot.layout)
    } catch {
      throw damaged("the duplicates in node \(outer.index): \(error.what)")
    }
  }

  /// Checks a value on the page inside the node, so that it can be handed out without a check.
  private func checkInner(_ index: Int, in frame: Frame) throws(ReadError) {
    let bytes = outer.leaf.bytes.span
    do throws(Flaw) {
      _ = try frame.key(index, in: bytes, snapshot.layout)
    } catch {
      throw damaged("the duplicates in node \(outer.index): \(error.what)")
    }
  }

  /// Checks the value on which a cursor stands.
  private static func check(_ cursor: TreeCursor) throws(ReadError) {
    let bytes = cursor.leaf.bytes.span
    do throws(Flaw) {
      _ = try cursor.leaf.frame.key(cursor.index, in: bytes, cursor.snapshot.layout)
    } catch {
      throw .damaged(cursor.leaf.number, error.what)
    }
  }

  /// Moves to another value of the same key.
  private mutating func moveInside(forward: Bool) throws(ReadError) -> Bool {
    switch duplicates {
    case .none: return false
    case .inner(let frame, let index):
      let next = forward ? index + 1 : index - 1
      guard next >= 0, next < frame.count else { return false }
      try checkInner(next, in: frame)
      duplicates = .inner(frame, index: next)
      seen.entries += 1
      return true
    case .tree:
      if forward { try inner?.moveToNext() } else { try inner?.moveToPrevious() }
      guard let cursor = inner, cursor.isOn else { return false }
      try Self.check(cursor)
      seen.entries += 1
      return true
    }
  }
}

/// Why a value could not be handed out, or was not taken.
package enum ReadFailure<E: Error>: Error {
  case file(ReadError)
  case body(E)
}

extension Span<UInt8> {
  /// A copy of the bytes.
  package var array: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in indices { bytes.append(self[index]) }
    return bytes
  }
}
