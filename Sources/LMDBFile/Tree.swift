/// A database as the file records it: a B+ tree, its order, and what it should hold.
package struct Tree: Sendable, Hashable {
  /// How a database sorts and stores; the bits are LMDB's.
  package struct Flags: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let reverseKey = Flags(rawValue: 0x02)
    package static let duplicates = Flags(rawValue: 0x04)
    package static let integerKey = Flags(rawValue: 0x08)
    package static let fixedDuplicates = Flags(rawValue: 0x10)
    package static let integerDuplicates = Flags(rawValue: 0x20)
    package static let reverseDuplicates = Flags(rawValue: 0x40)
    /// All that mean something.
    package static let known = Flags(rawValue: 0x7E)
  }

  /// Counts beyond these are damage, since no machine could map the file: 128 TiB of 4096 bytes a page, and 8 bytes of
  /// it a record. They keep the sums and products of what a file merely claims far from overflow.
  private static let pageLimit = 1 << 35
  private static let entryLimit = 1 << 44

  /// The name, or `nil` for the main database and the list of free pages.
  package let name: [UInt8]?
  /// The size of a key where all have the same.
  let keySize: Int
  package let flags: Flags
  /// How many pages lie on the way to a key.
  package let depth: Int
  package let branchPages: Int
  package let leafPages: Int
  package let overflowPages: Int
  package let entries: Int
  /// The first page, or `nil` if the tree is empty.
  package let root: Int?

  /// All pages, as recorded. LMDB does not count those of duplicates that have a tree of their own.
  package var pages: Int { branchPages + leafPages + overflowPages }

  /// Reads what the file records; the caller has checked that the bytes are there.
  init(_ bytes: Span<UInt8>, at offset: Int, _ layout: Layout, name: [UInt8]?) {
    self.name = name
    keySize = layout.load32(bytes, offset)
    flags = Flags(rawValue: layout.load16(bytes, offset + 4))
    depth = layout.load16(bytes, offset + 6)
    func word(_ index: Int, limit: Int) -> Int {
      min(layout.loadWord(bytes, offset + 8 + index * layout.wordSize), limit)
    }
    branchPages = word(0, limit: Self.pageLimit)
    leafPages = word(1, limit: Self.pageLimit)
    overflowPages = word(2, limit: Self.pageLimit)
    entries = word(3, limit: Self.entryLimit)
    let root = layout.loadUnsignedWord(bytes, offset + 8 + 4 * layout.wordSize)
    self.root = root == (layout.wordSize == 4 ? UInt64(UInt32.max) : .max) ? nil : Int(clamping: root)
  }

  /// A database without records, in a file of some layout.
  package static func empty(_ layout: Layout) -> Tree {
    var record = [UInt8](repeating: 0, count: layout.treeRecordSize)
    for index in record.count - layout.wordSize..<record.count { record[index] = 0xFF }
    return Tree(record.span, at: 0, layout, name: nil)
  }

  /// The name for people; what is not text is escaped.
  package var title: String {
    guard let name else { return "main" }
    return String(escaping: Self.trimmed(name))
  }

  /// Where the name ends: version 2 stores it with a zero after it.
  package static func trimmed(_ name: [UInt8]) -> [UInt8] { name.last == 0 ? name.dropLast() : name }
}

extension String {
  /// UTF-8 text with what is no text, or could act on a terminal, as `\xNN`.
  package init(escaping bytes: [UInt8]) {
    var text = ""
    for scalar in String(validating: bytes, as: UTF8.self)?.unicodeScalars ?? "".unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        for byte in String(scalar).utf8 { text += Self.escape(byte) }
      default: text += scalar == "\\" ? "\\\\" : String(scalar)
      }
    }
    if text.isEmpty {
      for byte in bytes {
        switch byte {
        case 0x5C: text += "\\\\"
        case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
        default: text += Self.escape(byte)
        }
      }
    }
    self = text
  }

  private static func escape(_ byte: UInt8) -> String { "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
