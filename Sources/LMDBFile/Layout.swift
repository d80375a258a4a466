/// How numbers and pages of a file are laid out, which depends on the machine and the LMDB that made it.
package struct Layout: Sendable, Hashable {
  /// The bytes of a page number, a transaction number or a size: 4 or 8.
  package let wordSize: Int
  /// Whether the most significant byte comes first.
  package let isBigEndian: Bool
  /// The data version: 1 for LMDB 0.9, 2 for its development line 0.9.90, 3 for 1.0.
  package let version: Int
  /// The bytes of a page: a power of two from 256 to 65,536.
  package let pageSize: Int

  package init(wordSize: Int, isBigEndian: Bool, version: Int, pageSize: Int) {
    self.wordSize = wordSize
    self.isBigEndian = isBigEndian
    self.version = version
    self.pageSize = pageSize
  }

  /// The bytes before the table of a page's nodes: the page number, since version 2 the transaction that wrote the
  /// page, and four 16-bit numbers.
  var pageHeaderSize: Int { (version == 1 ? wordSize : 2 * wordSize) + 8 }
  /// What the offsets in a page count from.
  var nodeBase: Int { version == 1 ? 0 : pageHeaderSize }
  /// The bytes before the key of a node.
  static let nodeHeaderSize = 8
  /// The bytes that describe a database.
  package var treeRecordSize: Int { 8 + 5 * wordSize }
  /// The bytes of a meta page from its magic number on.
  var metaSize: Int { 8 + 4 * wordSize + 2 * treeRecordSize }
  /// The bytes that stand in a node for a value on pages of its own.
  var overflowReferenceSize: Int { version == 3 ? 3 * wordSize : wordSize }

  package static let pageSizes = (8...16).map { 1 << $0 }

  func with(pageSize: Int) -> Layout {
    Layout(wordSize: wordSize, isBigEndian: isBigEndian, version: version, pageSize: pageSize)
  }

  /// How many pages a value on pages of its own takes.
  func overflowPages(for count: Int) -> Int { (pageHeaderSize + count - 1) / pageSize + 1 }

  /// The layout in words.
  package var description: String {
    let family = [1: "LMDB 0.9", 2: "LMDB 0.9.90", 3: "LMDB 1.0"][version] ?? "LMDB"
    return
      "\(family) (data version \(version)), \(wordSize * 8)-bit \(isBigEndian ? "big" : "little")-endian, page \(pageSize)"
  }
}

// The caller has checked that the bytes are there.
extension Layout {
  @inline(__always)
  func load16(_ bytes: Span<UInt8>, _ offset: Int) -> Int {
    let (first, second) = (Int(bytes[offset]), Int(bytes[offset + 1]))
    return isBigEndian ? first << 8 | second : second << 8 | first
  }

  @inline(__always)
  func load32(_ bytes: Span<UInt8>, _ offset: Int) -> Int {
    let (first, second) = (load16(bytes, offset), load16(bytes, offset + 2))
    return isBigEndian ? first << 16 | second : second << 16 | first
  }

  @inline(__always)
  func loadUnsignedWord(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64 {
    let first = UInt64(load32(bytes, offset))
    if wordSize == 4 { return first }
    let second = UInt64(load32(bytes, offset + 4))
    return isBigEndian ? first << 32 | second : second << 32 | first
  }

  /// A word as a number; one that is too large is the largest there is, which no check lets pass.
  @inline(__always)
  func loadWord(_ bytes: Span<UInt8>, _ offset: Int) -> Int { Int(clamping: loadUnsignedWord(bytes, offset)) }
}
