extension Snapshot {
  /// The named databases, in the order of the main one.
  ///
  /// - Throws: `damaged` if the main database cannot be walked, or two databases are the same.
  package func databases() throws(ReadError) -> [Tree] {
    var found: [Tree] = []
    var roots: Set<Int> = []
    var records = try RecordCursor(self, main)
    while try records.next() {
      guard let database = records.database else { continue }
      if let root = database.root, !roots.insert(root).inserted {
        throw .damaged(root, "two databases, one of them \(database.title), start here")
      }
      found.append(database)
    }
    return found
  }

  /// The database of a name; version 2 stores names with a zero at their end, which may be left out.
  ///
  /// - Throws: `unknownDatabase` if there is none, or only a record of that name.
  package func database(_ name: [UInt8]) throws(ReadError) -> Tree {
    for key in [name, name + [0]] {
      var records = try RecordCursor(self, main)
      guard try records.seek(to: key), records.key.array == key else { continue }
      guard let database = records.database else {
        throw ReadError(
          .unknownDatabase, "\(String(escaping: name)) is a record of the main database, not a database")
      }
      return database
    }
    let names = try databases().map(\.title)
    let list = names.isEmpty ? "it has only the main one" : "it has \(names.prefix(8).joined(separator: ", "))"
    throw ReadError(
      .unknownDatabase, "there is no database \(String(escaping: name)); \(list)\(names.count > 8 ? ", …" : "")")
  }

  /// Visits every page that the list of free pages names, in runs as long as a record of it.
  ///
  /// - Parameter body: Gets the commit that freed the pages, and the pages.
  /// - Throws: `damaged` if a record of the list cannot be right.
  package func forEachFreePage(_ body: (_ transaction: UInt64, _ pages: [Int]) -> Void) throws(ReadError) {
    var records = try RecordCursor(self, meta.free)
    while try records.next() {
      let value = try records.value()
      let key = records.key
      guard let pages = FreeList.pages(key, value.span, layout) else {
        throw ReadError(
          .damaged,
          "a record of the list of free pages, with \(key.count) and \(value.count) bytes, does not hold what it claims"
        )
      }
      body(layout.loadUnsignedWord(key, 0), pages)
    }
  }

  /// Two meta pages for a copy of this commit: both name it.
  package var metaPages: [UInt8] {
    var page = meta.bytes + [UInt8](repeating: 0, count: max(0, layout.pageSize - meta.bytes.count))
    for index in 0..<layout.wordSize { page[index] = 0 }
    let first = page
    page[layout.isBigEndian ? layout.wordSize - 1 : 0] = 1
    return first + page
  }

  /// How many pages wait to be used again.
  package func freePageCount() throws(ReadError) -> Int {
    var count = 0
    try forEachFreePage { _, pages in count += pages.count }
    return count
  }
}
