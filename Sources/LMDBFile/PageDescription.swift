/// One page, decoded as far as it can be.
package struct PageDescription: Sendable {
  /// A node, or a key of a packed page.
  package struct Item: Sendable {
    package let key: [UInt8]
    /// What is with the key, as a phrase.
    package let what: String
  }

  package let number: Int
  package let bytes: [UInt8]
  /// What kind of page it says it is.
  package let kind: String
  package let items: [Item]
  /// Why it is not what it should be.
  package let problem: String?

  /// Reads a page of a file, whatever is on it.
  ///
  /// - Throws: `damaged` if the file has no such page, `io` if it cannot be read.
  package init(_ number: Int, of snapshot: Snapshot) throws(ReadError) {
    let layout = snapshot.layout
    let bytes = try snapshot.file.source.bytes(at: number * layout.pageSize, count: layout.pageSize)
    guard bytes.count == layout.pageSize else {
      throw ReadError(.damaged, "there is no page \(number); the file has \(snapshot.filePages) pages")
    }
    self.number = number
    self.bytes = bytes
    let span = bytes.span
    let header = layout.pageHeaderSize
    let flags = layout.load16(span, header - 6) & Frame.kindMask
    switch flags {
    case Frame.metaFlag: kind = "meta page"
    case Frame.overflowFlag: kind = "first page of a value, of \(layout.load32(span, header - 4))"
    case Frame.branchFlag: kind = "branch"
    case Frame.leafFlag: kind = "leaf"
    case Frame.leafFlag | Frame.packedFlag: kind = "leaf of duplicates, packed"
    default: kind = "no page of a tree"
    }
    let stored = layout.loadWord(span, 0)
    guard [Frame.branchFlag, Frame.leafFlag, Frame.leafFlag | Frame.packedFlag].contains(flags) else {
      items = []
      problem = nil
      return
    }
    do throws(Flaw) {
      let frame = try Frame(span, base: 0, limit: layout.pageSize, isInner: false, layout)
      var items: [Item] = []
      for index in 0..<frame.count { items.append(try Self.item(index, frame, span, layout)) }
      self.items = items
      problem = stored == number ? nil : "it says it is page \(stored)"
    } catch {
      items = []
      problem = error.what
    }
  }

  private static func item(
    _ index: Int, _ frame: Frame, _ bytes: Span<UInt8>, _ layout: Layout
  ) throws(Flaw) -> Item {
    let key = bytes.extracting(try frame.key(index, in: bytes, layout)).array
    if frame.kind == .packed { return Item(key: key, what: "") }
    let node = try frame.node(index, in: bytes, layout)
    if frame.kind == .branch { return Item(key: key, what: "to page \(node.child)") }
    if node.flags.contains(.overflow) {
      return Item(key: key, what: "\(node.valueCount) bytes from page \(layout.loadWord(bytes, node.value)) on")
    }
    if node.flags.contains([.duplicates, .tree]) { return Item(key: key, what: "a tree of duplicates") }
    if node.flags.contains(.duplicates) { return Item(key: key, what: "duplicates, in \(node.valueCount) bytes") }
    if node.flags.contains(.tree) { return Item(key: key, what: "a database") }
    return Item(key: key, what: "\(node.valueCount) bytes")
  }
}
