/// One of the two pages at the front, which name the newest commits by turns.
package struct Meta: Sendable, Hashable {
  /// 0 or 1.
  package let number: Int
  package let layout: Layout
  /// The number of the commit.
  package let transactionID: UInt64
  /// The last page that was ever used.
  package let lastPage: Int
  package let mapSize: UInt64
  /// Where the file was mapped, if it asks for one address.
  package let address: UInt64
  /// Flags of the environment.
  package let flags: Int
  package let free: Tree
  package let main: Tree
  /// What is wrong with it, if anything.
  package let problem: String?
  /// The bytes it was read from, the start of its page; the next commit but one replaces them in the file.
  let bytes: [UInt8]

  static let magic = 0xBEEF_C0DE

  init(
    number: Int, layout: Layout, transactionID: UInt64, lastPage: Int, mapSize: UInt64, address: UInt64, flags: Int,
    free: Tree, main: Tree, problem: String?
  ) {
    self.number = number
    self.layout = layout
    self.transactionID = transactionID
    self.lastPage = lastPage
    self.mapSize = mapSize
    self.address = address
    self.flags = flags
    self.free = free
    self.main = main
    self.problem = problem
    bytes = []
  }

  /// Reads a meta page; `nil` if the bytes have no magic number or known version where the layout has them.
  init?(_ page: [UInt8], number: Int, layout guess: Layout) {
    let bytes = page.span
    let start = guess.pageHeaderSize
    guard page.count >= start + guess.metaSize, guess.load32(bytes, start) == Self.magic,
      guess.load32(bytes, start + 4) & 0xFFFF == guess.version
    else { return nil }
    self.number = number
    self.bytes = page
    let word = guess.wordSize
    address = guess.loadUnsignedWord(bytes, start + 8)
    mapSize = guess.loadUnsignedWord(bytes, start + 8 + word)
    let trees = start + 8 + 2 * word
    free = Tree(bytes, at: trees, guess, name: nil)
    main = Tree(bytes, at: trees + guess.treeRecordSize, guess, name: nil)
    let tail = trees + 2 * guess.treeRecordSize
    lastPage = guess.loadWord(bytes, tail)
    transactionID = guess.loadUnsignedWord(bytes, tail + word)
    layout = guess.with(pageSize: free.keySize)
    flags = free.flags.rawValue & ~Tree.Flags.known.rawValue
    let isMeta = guess.load16(bytes, start - 6) & 0x8 != 0
    problem = Self.problem(
      pageSize: free.keySize, isMeta: isMeta, lastPage: lastPage, free: free, main: main)
  }

  private static func problem(pageSize: Int, isMeta: Bool, lastPage: Int, free: Tree, main: Tree) -> String? {
    if !Layout.pageSizes.contains(pageSize) { return "its page size is \(pageSize)" }
    if !isMeta { return "it is not marked as one" }
    if lastPage < 1 || lastPage > Int.max / pageSize - 1 { return "its last page is \(lastPage)" }
    for (tree, name) in [(free, "free list"), (main, "main database")] {
      if let root = tree.root, !(2...max(2, lastPage)).contains(root) || root > lastPage {
        return "the root of the \(name) is page \(root), and the last page \(lastPage)"
      }
      if tree.root != nil && !(1...64).contains(tree.depth) { return "the \(name) has a depth of \(tree.depth)" }
    }
    return nil
  }

  /// The bytes of all pages that were ever used.
  package var usedBytes: Int { (lastPage + 1) * layout.pageSize }
}
