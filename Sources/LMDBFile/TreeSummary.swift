/// What a walk over all pages of a tree has found.
package struct TreeSummary: Sendable, Hashable {
  package var branchPages = 0
  package var leafPages = 0
  package var overflowPages = 0
  /// The pages of trees of duplicates, which LMDB does not count.
  package var duplicatePages = 0
  /// Records: each value under a key is one.
  package var entries = 0
  /// Leaves with two keys or more, of which an order can be seen.
  package var comparableLeaves = 0
  /// Leaves whose keys are not in the order that the database declares.
  package var unsortedLeaves: [Int] = []
  /// Keys whose values are not in the declared order.
  package var unsortedDuplicates = 0
  /// Whether all pages could be read.
  package var isComplete = true

  package init() {}

  /// All pages.
  package var pages: Int { branchPages + leafPages + overflowPages + duplicatePages }

  /// Whether keys are out of order as a program's own order would have it: nearly everywhere. Damage is in one place.
  package var hasOwnKeyOrder: Bool { comparableLeaves > 1 && unsortedLeaves.count * 2 >= comparableLeaves }
}

/// Compares the keys of a walk with the order they should have.
struct OrderCheck {
  let order: KeyOrder
  private var last: [UInt8]?

  init(_ order: KeyOrder) { self.order = order }

  /// Whether the keys of a page ascend, and lie above those of the page before.
  mutating func isSorted(_ frame: Frame, _ bytes: Span<UInt8>, _ layout: Layout) throws(Flaw) -> Bool {
    var isSorted = true
    var before = try frame.key(0, in: bytes, layout)
    if let last {
      let end = last.span
      if let order = order.compare(end, bytes.extracting(before)), order >= 0 { isSorted = false }
    }
    for index in 1..<max(1, frame.count) {
      let range = try frame.key(index, in: bytes, layout)
      if let order = order.compare(bytes.extracting(before), bytes.extracting(range)), order >= 0 { isSorted = false }
      before = range
    }
    last = bytes.extracting(before).array
    return isSorted
  }
}
