/// One commit of a file, as its meta page describes it.
///
/// Nothing keeps a writer from reusing its pages; ``isIntact()`` says whether one may have.
package struct Snapshot: Sendable {
  package let file: DataFile
  package let meta: Meta
  /// The pages that lie within the file, whole.
  package let filePages: Int

  package var layout: Layout { meta.layout }
  package var main: Tree { meta.main }

  /// Which commit to read.
  package enum Choice: Sendable, Hashable {
    /// The newest; it is an error if a meta page is broken, since that may have been newer.
    case newest
    /// The newest that can be read.
    case readable
    /// That of one meta page.
    case meta(Int)
  }

  package init(_ file: DataFile, _ choice: Choice = .newest) throws(ReadError) {
    let metas = try file.metas()
    let sound = metas.compactMap(\.sound)
    guard let newest = sound.max(by: { ($0.transactionID, $1.number) < ($1.transactionID, $0.number) }) else {
      throw ReadError(
        .damaged,
        "both meta pages are damaged (\(metas[0].problem ?? "")); `kvdump recover` looks for what is left")
    }
    switch choice {
    case .readable: meta = newest
    case .newest:
      if let broken = metas.first(where: { $0.problem != nil }), let problem = broken.problem {
        throw ReadError(
          .damaged,
          "meta page \(broken.number) is damaged (\(problem)), and may have been the newer one; "
            + "add `--meta \(newest.number)` to read commit \(newest.transactionID)"
            + (newest.main.root == nil ? ", which is empty" : "")
            + "; `kvdump recover` looks for what else is left", page: broken.number)
      }
      meta = newest
    case .meta(let number):
      guard let chosen = metas.first(where: { $0.number == number }) else {
        throw ReadError(.damaged, "there are only meta pages 0 and 1")
      }
      guard let sound = chosen.sound else {
        throw ReadError(
          .damaged, "meta page \(number) is damaged: \(chosen.problem ?? "")", page: number)
      }
      meta = sound
    }
    self.file = file
    filePages = try file.source.status().size / meta.layout.pageSize
  }

  package init(_ file: DataFile, _ meta: Meta) throws(ReadError) {
    self.file = file
    self.meta = meta
    filePages = try file.source.status().size / meta.layout.pageSize
  }

  /// Whether all pages read so far are those of this commit.
  ///
  /// A writer reuses pages that were freed two commits before its own, so what the next commit frees is safe until the
  /// third after this one begins, which is when the second is there.
  package func isIntact() throws(ReadError) -> Bool {
    let newest = try file.metas().compactMap(\.sound?.transactionID).max() ?? meta.transactionID
    return newest <= meta.transactionID + 1
  }

  /// Reads a page that some other one leads to.
  ///
  /// - Throws: `damaged` if it is not in the file, or not what it claims.
  func read(_ number: Int, into page: inout Page) throws(ReadError) {
    try readBytes(of: number, into: &page)
    do throws(Flaw) {
      let frame = try page.parsed(as: number, layout)
      page.frame = frame
    } catch {
      throw .damaged(number, error.what)
    }
  }

  func readBytes(of number: Int, into page: inout Page) throws(ReadError) {
    guard number >= 2, number <= meta.lastPage else {
      throw .damaged(number, "it is referred to, but the last page is \(meta.lastPage)")
    }
    guard number < filePages else { throw .damaged(number, "the file ends before it; it has been cut off") }
    if page.bytes.count != layout.pageSize { page.bytes = [UInt8](repeating: 0, count: layout.pageSize) }
    let got = try file.source.read(into: &page.bytes, count: layout.pageSize, at: number * layout.pageSize)
    guard got == layout.pageSize else { throw .damaged(number, "the file ends before it; it has been cut off") }
    page.number = number
  }

  /// Checks the pages of a value that has some of its own.
  ///
  /// - Returns: Where the value starts in the file, and how many pages it has.
  func overflow(_ page: Page, _ node: Node) throws(ReadError) -> (offset: Int, first: Int, pages: Int) {
    let first = page.reference(of: node, layout)
    let pages = layout.overflowPages(for: node.valueCount)
    guard first >= 2, first <= meta.lastPage, pages <= meta.lastPage - first + 1 else {
      throw .damaged(
        page.number, "a value of \(node.valueCount) bytes is said to start on page \(first), outside of the file")
    }
    guard first + pages <= filePages else {
      throw .damaged(first, "the file ends before the value that starts here; it has been cut off")
    }
    let header = try file.source.bytes(at: first * layout.pageSize, count: layout.pageHeaderSize)
    guard header.count == layout.pageHeaderSize else { throw .damaged(first, "the file ends before it") }
    let bytes = header.span
    let end = layout.pageHeaderSize
    guard layout.loadWord(bytes, 0) == first, layout.load16(bytes, end - 6) & Frame.kindMask == Frame.overflowFlag
    else {
      throw .damaged(first, "a value should start here, but it is no page of a value")
    }
    let stored = layout.load32(bytes, end - 4)
    guard stored == pages else {
      throw .damaged(first, "the value that starts here has \(stored) pages, where \(pages) are needed")
    }
    return (first * layout.pageSize + layout.pageHeaderSize, first, pages)
  }
}

/// A page of a tree, and its bytes.
struct Page {
  var number = 0
  var bytes: [UInt8] = []
  var frame = Frame()

  /// Checks the bytes as those of a page of a tree.
  func parsed(as number: Int, _ layout: Layout) throws(Flaw) -> Frame {
    let bytes = bytes.span
    let stored = layout.loadWord(bytes, 0)
    guard stored == number else { throw Flaw("it says it is page \(stored)") }
    return try Frame(bytes, base: 0, limit: layout.pageSize, isInner: false, layout)
  }

  /// Where the pages of a node's value start.
  func reference(of node: Node, _ layout: Layout) -> Int {
    let bytes = bytes.span
    return layout.loadWord(bytes, node.value)
  }
}
