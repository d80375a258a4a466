/// Finds out the layout of a file without meta pages, by which one makes the most of its pages say who they are.
enum LayoutGuess {
  static func layout(of source: ByteSource) throws(ReadError) -> Layout? {
    let size = try source.status().size
    var best: (layout: Layout, score: Int)?
    for pageSize in Layout.pageSizes.reversed() {
      for (wordSize, version) in [(8, 1), (8, 3), (8, 2), (4, 1), (4, 2)] {
        for isBigEndian in [false, true] {
          let layout = Layout(wordSize: wordSize, isBigEndian: isBigEndian, version: version, pageSize: pageSize)
          let score = try score(layout, source, size) * pageSize
          if score > (best?.score ?? 0) { best = (layout, score) }
        }
      }
    }
    return best?.layout
  }

  /// How many of the first pages are those of a tree, by all that can be checked.
  private static func score(_ layout: Layout, _ source: ByteSource, _ size: Int) throws(ReadError) -> Int {
    var score = 0
    var page = Page()
    page.bytes = [UInt8](repeating: 0, count: layout.pageSize)
    for number in 2..<max(2, min(size / layout.pageSize, 66)) {
      let got = try source.read(into: &page.bytes, count: layout.pageSize, at: number * layout.pageSize)
      guard got == layout.pageSize, let frame = try? page.parsed(as: number, layout) else { continue }
      page.frame = frame
      if (0..<frame.count).allSatisfy({ page.key($0, layout) != nil }) { score += 1 }
    }
    return score
  }
}

extension Meta {
  /// Stands in for meta pages that are lost: no trees, and every page of the file.
  init(spanning file: DataFile) throws(ReadError) {
    let pages = try file.source.status().size / file.layout.pageSize
    let empty = Tree.empty(file.layout)
    self.init(
      number: 0, layout: file.layout, transactionID: 0, lastPage: max(1, pages - 1), mapSize: 0, address: 0, flags: 0,
      free: empty, main: empty, problem: nil)
  }
}

extension Page {
  /// The commit that wrote a page, as far as its layout says.
  func transactionID(_ layout: Layout) -> UInt64 {
    layout.version == 1 ? 0 : layout.loadUnsignedWord(bytes.span, layout.wordSize)
  }
}
