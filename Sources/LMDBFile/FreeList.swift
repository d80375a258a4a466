/// The list of free pages: under the number of a commit the pages that it freed, the highest first.
enum FreeList {
  /// The pages of a row; `nil` if it cannot be one.
  static func pages(_ key: Span<UInt8>, _ value: Span<UInt8>, _ layout: Layout) -> [Int]? {
    let word = layout.wordSize
    guard key.count == word, value.count >= word, value.count % word == 0 else { return nil }
    let count = layout.loadWord(value, 0)
    guard count >= 0, count < value.count / word else { return nil }
    var pages: [Int] = []
    pages.reserveCapacity(count)
    for index in 0..<count { pages.append(layout.loadWord(value, word * (index + 1))) }
    return pages
  }

  /// Whether all that a leaf holds are rows of the list, so that it belongs to the list of some commit.
  ///
  /// Numbers of commits in order, each with a count and so many pages of the file in falling order, are hardly ever
  /// somebody's records.
  static func isLeaf(_ page: Page, _ snapshot: Snapshot) -> Bool {
    var records = LeafRecords(snapshot)
    var isList = true
    records.forEach(of: page, database: { _ in isList = false }) { key, value, isDuplicate in
      guard isList else { return }
      let (key, value) = (key.span, value.span)
      guard !isDuplicate, let pages = pages(key, value, snapshot.layout), !pages.isEmpty,
        pages.allSatisfy({ $0 >= 2 && $0 <= snapshot.meta.lastPage }),
        zip(pages, pages.dropFirst()).allSatisfy({ $0.0 > $0.1 })
      else { return isList = false }
    }
    return isList && records.lost == 0
  }
}
