/// A page, or a page inside a node, whose header has been checked: where it lies among some bytes, and what it holds.
struct Frame {
  enum Kind {
    /// Leads to other pages.
    case branch
    /// Holds keys and values.
    case leaf
    /// Holds keys of one size and nothing else: duplicates.
    case packed
  }

  let kind: Kind
  /// How many nodes there are.
  let count: Int
  let base: Int
  let limit: Int
  /// The size of a key on a packed page.
  let keySize: Int

  static let branchFlag = 0x01, leafFlag = 0x02, overflowFlag = 0x04, metaFlag = 0x08, packedFlag = 0x20, subFlag = 0x40
  static let kindMask = 0x6F

  /// Checks a page that starts at `base` and ends before `limit`, of which there are enough bytes.
  ///
  /// - Throws: What is wrong, as a phrase.
  init(_ bytes: Span<UInt8>, base: Int, limit: Int, isInner: Bool, _ layout: Layout) throws(Flaw) {
    let header = base + layout.pageHeaderSize
    guard limit >= header, limit <= bytes.count else { throw Flaw("it is shorter than its header") }
    let flags = layout.load16(bytes, header - 6) & Self.kindMask
    switch flags & ~Self.subFlag {
    case Self.branchFlag: kind = .branch
    case Self.leafFlag: kind = .leaf
    case Self.leafFlag | Self.packedFlag: kind = .packed
    case let other: throw Flaw("it has the flags 0x\(String(other, radix: 16)), which no page of a tree has")
    }
    guard isInner == (flags & Self.subFlag != 0), !isInner || kind != .branch else {
      throw Flaw("it has the flags 0x\(String(flags, radix: 16)), which belong elsewhere")
    }
    let lower = layout.load16(bytes, header - 4) + layout.nodeBase
    let upper = layout.load16(bytes, header - 2) + layout.nodeBase
    guard lower >= layout.pageHeaderSize, lower & 1 == layout.pageHeaderSize & 1, lower <= upper, base + upper <= limit
    else { throw Flaw("its free space reaches from \(lower) to \(upper)") }
    count = (lower - layout.pageHeaderSize) / 2
    guard count > 0 else { throw Flaw("it is empty") }
    self.base = base
    self.limit = limit
    keySize = kind == .packed ? layout.load16(bytes, header - 8) : 0
    if kind == .packed {
      guard keySize > 0, keySize <= (limit - header) / count else {
        throw Flaw("it holds \(count) keys of \(keySize) bytes, for which it is too small")
      }
    }
  }

  /// Stands for no page; has no nodes.
  init() {
    (kind, count, base, limit, keySize) = (.leaf, 0, 0, 0, 0)
  }

  /// A node of a branch or leaf page, with every offset checked.
  @inline(__always)
  func node(_ index: Int, in bytes: Span<UInt8>, _ layout: Layout) throws(Flaw) -> Node {
    let header = base + layout.pageHeaderSize
    let pointer = layout.load16(bytes, header + 2 * index)
    let start = base + layout.nodeBase + pointer
    guard start >= header + 2 * count, start + Layout.nodeHeaderSize <= limit else {
      throw Flaw("node \(index) lies at \(start - base), outside of it")
    }
    let key = start + Layout.nodeHeaderSize
    let keyCount = layout.load16(bytes, start + 6)
    guard keyCount <= limit - key else {
      throw Flaw("the key of node \(index) has \(keyCount) bytes and runs out of it")
    }
    let low = layout.load16(bytes, layout.isBigEndian ? start + 2 : start)
    let high = layout.load16(bytes, layout.isBigEndian ? start : start + 2)
    let flags = layout.load16(bytes, start + 4)
    if kind == .branch {
      let top = layout.wordSize == 8 ? flags << 32 : 0
      return Node(key: key, keyCount: keyCount, value: 0, valueCount: low | high << 16 | top, flags: [])
    }
    let value = key + (layout.version == 3 ? keyCount + keyCount & 1 : keyCount)
    let valueCount = low | high << 16
    let node = Node(
      key: key, keyCount: keyCount, value: value, valueCount: valueCount, flags: Node.Flags(rawValue: flags))
    let inPage = node.flags.contains(.overflow) ? layout.overflowReferenceSize : valueCount
    guard value <= limit, inPage <= limit - value else {
      throw Flaw("the value of node \(index) has \(inPage) bytes and runs out of it")
    }
    guard node.flags.isSubset(of: .known), !node.flags.contains([.overflow, .duplicates]) else {
      throw Flaw("node \(index) has the flags 0x\(String(flags, radix: 16))")
    }
    return node
  }

  /// The bytes of a key, on any page.
  @inline(__always)
  func key(_ index: Int, in bytes: Span<UInt8>, _ layout: Layout) throws(Flaw) -> Range<Int> {
    if kind == .packed {
      let start = base + layout.pageHeaderSize + index * keySize
      return start..<start + keySize
    }
    return try node(index, in: bytes, layout).keyRange
  }
}

/// One key and what is stored with it, as offsets into a page; all are inside of it.
struct Node {
  struct Flags: OptionSet {
    let rawValue: Int
    /// The value is on pages of its own.
    static let overflow = Flags(rawValue: 1)
    /// The value describes a database.
    static let tree = Flags(rawValue: 2)
    /// The value is a page of duplicates, or with ``tree`` describes a tree of them.
    static let duplicates = Flags(rawValue: 4)
    static let known: Flags = [.overflow, .tree, .duplicates]
  }

  let key: Int
  let keyCount: Int
  let value: Int
  /// The size of the value; on a branch page, the page that the node leads to.
  let valueCount: Int
  let flags: Flags

  var child: Int { valueCount }
  var keyRange: Range<Int> { key..<key + keyCount }
  var valueRange: Range<Int> { value..<value + valueCount }
}

/// What is wrong with a page, as a phrase; whoever knows its number makes an error of it.
struct Flaw: Error {
  let what: String
  init(_ what: String) { self.what = what }
}
