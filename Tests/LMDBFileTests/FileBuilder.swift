/// Makes LMDB files of any layout in memory, by the rules of the format and not by the code that is tested.
struct FileBuilder {
  let wordSize: Int
  let isBigEndian: Bool
  let version: Int
  let pageSize: Int

  enum Value {
    case bytes([UInt8])
    /// More than one value under the key, sorted.
    case duplicates([[UInt8]])
    /// The same, of one size, without the bytes around each.
    case packed([[UInt8]])
    /// Values in a tree of their own, so many a page.
    case tree([[UInt8]], perPage: Int, isPacked: Bool)
  }

  private(set) var pages: [[UInt8]] = [[], []]

  private var header: Int { (version == 1 ? wordSize : 2 * wordSize) + 8 }
  private var base: Int { version == 1 ? 0 : header }

  init(wordSize: Int, isBigEndian: Bool, version: Int, pageSize: Int) {
    self.wordSize = wordSize
    self.isBigEndian = isBigEndian
    self.version = version
    self.pageSize = pageSize
  }

  func number(_ value: Int, _ count: Int) -> [UInt8] {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return isBigEndian ? bytes.reversed() : bytes
  }

  private func put(_ bytes: [UInt8], at offset: Int, in page: inout [UInt8]) {
    page.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  private func pageHead(_ number: Int, flags: Int, pad: Int = 0, size: Int) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: size)
    put(self.number(number, wordSize), at: 0, in: &page)
    put(self.number(pad, 2), at: header - 8, in: &page)
    put(self.number(flags, 2), at: header - 6, in: &page)
    return page
  }

  /// A node: sizes or a page number, flags, the key, and what follows it.
  private func node(low: Int, flags: Int, key: [UInt8], data: [UInt8]) -> [UInt8] {
    let halves = [low & 0xFFFF, low >> 16 & 0xFFFF]
    let padding = version == 3 && key.count % 2 == 1 ? [UInt8(0)] : []
    return number(halves[isBigEndian ? 1 : 0], 2) + number(halves[isBigEndian ? 0 : 1], 2) + number(flags, 2)
      + number(key.count, 2) + key + padding + data
  }

  /// Fills a page with nodes from its end.
  private func page(_ number: Int, flags: Int, nodes: [[UInt8]], size: Int) -> [UInt8]? {
    var page = pageHead(number, flags: flags, size: size)
    var end = size
    for (index, node) in nodes.enumerated() {
      end -= node.count + node.count % 2
      if end < header + 2 * nodes.count { return nil }
      put(node, at: end, in: &page)
      put(self.number(end - base, 2), at: header + 2 * index, in: &page)
    }
    put(self.number(header + 2 * nodes.count - base, 2), at: header - 4, in: &page)
    put(self.number(end - base, 2), at: header - 2, in: &page)
    return page
  }

  private func packedPage(_ number: Int, flags: Int, keys: [[UInt8]], size: Int) -> [UInt8] {
    var page = pageHead(number, flags: flags | 0x20, pad: keys[0].count, size: size)
    for (index, key) in keys.enumerated() { put(key, at: header + index * key.count, in: &page) }
    let lower = header + 2 * keys.count
    put(self.number(lower - base, 2), at: header - 4, in: &page)
    put(self.number(max(lower, size - keys.count * (keys[0].count - 2)) - base, 2), at: header - 2, in: &page)
    return page
  }

  private mutating func overflow(_ value: [UInt8]) -> [UInt8] {
    let first = pages.count
    let count = (header + value.count - 1) / pageSize + 1
    var bytes = pageHead(first, flags: 0x04, size: count * pageSize)
    put(number(count, 4), at: header - 4, in: &bytes)
    put(value, at: header, in: &bytes)
    for index in 0..<count { pages.append(Array(bytes[index * pageSize..<(index + 1) * pageSize])) }
    return number(first, wordSize) + (version == 3 ? number(1, wordSize) + number(count, wordSize) : [])
  }

  struct Counts {
    var depth = 0, branches = 0, leaves = 0, overflows = 0, entries = 0, root = -1
  }

  func record(_ counts: Counts, flags: Int, pad: Int = 0) -> [UInt8] {
    let words = [counts.branches, counts.leaves, counts.overflows, counts.entries, counts.root]
    return number(pad, 4) + number(flags, 2) + number(counts.depth, 2) + words.flatMap { number($0, wordSize) }
  }

  /// Adds a tree of sorted records, so many a leaf.
  mutating func addTree(_ records: [(key: [UInt8], value: Value)], flags: Int = 0, perLeaf: Int) -> Counts {
    var counts = Counts()
    if records.isEmpty { return counts }
    var level: [(key: [UInt8], page: Int)] = []
    for start in stride(from: 0, to: records.count, by: perLeaf) {
      let part = records[start..<min(start + perLeaf, records.count)]
      let nodes = part.map { node(for: $0.key, $0.value, flags, &counts) }
      level.append((part[start].key, pages.count))
      pages.append(page(pages.count, flags: 0x02, nodes: nodes, size: pageSize)!)
      counts.leaves += 1
    }
    addBranches(level, &counts)
    return counts
  }

  private mutating func addBranches(_ leaves: [(key: [UInt8], page: Int)], _ counts: inout Counts) {
    var level = leaves
    counts.depth = 1
    while level.count > 1 {
      var above: [(key: [UInt8], page: Int)] = []
      for start in stride(from: 0, to: level.count, by: 4) {
        let part = level[start..<min(start + 4, level.count)]
        let nodes = part.enumerated().map { index, child in
          node(
            low: child.page & 0xFFFF_FFFF, flags: child.page >> 32, key: index == 0 ? [] : child.key, data: [])
        }
        above.append((part[start].key, pages.count))
        pages.append(page(pages.count, flags: 0x01, nodes: nodes, size: pageSize)!)
        counts.branches += 1
      }
      level = above
      counts.depth += 1
    }
    counts.root = level[0].page
  }

  private mutating func node(for key: [UInt8], _ value: Value, _ flags: Int, _ counts: inout Counts) -> [UInt8] {
    switch value {
    case .bytes(let bytes):
      counts.entries += 1
      if bytes.count <= pageSize / 4 { return node(low: bytes.count, flags: 0, key: key, data: bytes) }
      let reference = overflow(bytes)
      counts.overflows += (header + bytes.count - 1) / pageSize + 1
      return node(low: bytes.count, flags: 1, key: key, data: reference)
    case .duplicates(let values):
      counts.entries += values.count
      let nodes = values.map { node(low: 0, flags: 0, key: $0, data: []) }
      let size = header + nodes.reduce(0) { $0 + 2 + $1.count + $1.count % 2 }
      let inner = page(0, flags: 0x52, nodes: nodes, size: size)!
      return node(low: size, flags: 4, key: key, data: inner)
    case .packed(let values):
      counts.entries += values.count
      let size = header + max(values.count * values[0].count, 2 * values.count)
      let inner = packedPage(0, flags: 0x52, keys: values, size: size)
      return node(low: size, flags: 4, key: key, data: inner)
    case .tree(let values, let perPage, let isPacked):
      counts.entries += values.count
      var inner = Counts()
      inner.entries = values.count
      var level: [(key: [UInt8], page: Int)] = []
      for start in stride(from: 0, to: values.count, by: perPage) {
        let part = Array(values[start..<min(start + perPage, values.count)])
        let nodes = part.map { node(low: 0, flags: 0, key: $0, data: []) }
        level.append((part[0], pages.count))
        pages.append(
          isPacked
            ? packedPage(pages.count, flags: 0x02, keys: part, size: pageSize)
            : page(pages.count, flags: 0x02, nodes: nodes, size: pageSize)!)
        inner.leaves += 1
      }
      addBranches(level, &inner)
      let data = record(inner, flags: isPacked ? 0x10 : 0, pad: isPacked ? values[0].count : 0)
      return node(low: data.count, flags: 6, key: key, data: data)
    }
  }

  /// A main database's record of a named one.
  func named(_ name: String, _ counts: Counts, flags: Int) -> (key: [UInt8], data: [UInt8]) {
    (Array(name.utf8) + (version == 1 ? [] : [0]), record(counts, flags: flags))
  }

  /// Adds the main database, with records of named ones, two a leaf.
  mutating func addMain(_ databases: [(key: [UInt8], data: [UInt8])]) -> Counts {
    var counts = Counts(entries: databases.count)
    var level: [(key: [UInt8], page: Int)] = []
    for start in stride(from: 0, to: databases.count, by: 2) {
      let part = databases[start..<min(start + 2, databases.count)]
      let nodes = part.map { node(low: $0.data.count, flags: 2, key: $0.key, data: $0.data) }
      level.append((part[start].key, pages.count))
      pages.append(page(pages.count, flags: 0x02, nodes: nodes, size: pageSize)!)
      counts.leaves += 1
    }
    addBranches(level, &counts)
    return counts
  }

  /// The file: both meta pages name the tree, the second as the newer commit.
  func file(main: Counts, flags: Int = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in 0...1 {
      var page = pageHead(index, flags: 0x08, size: pageSize)
      let free = record(Counts(), flags: 0x08, pad: pageSize)
      let tree = record(index == 0 ? Counts() : main, flags: flags)
      let last = index == 0 ? 1 : pages.count - 1
      let meta =
        number(0xBEEF_C0DE, 4) + number(version, 4) + number(0, wordSize) + number(1 << 27, wordSize) + free + tree
        + number(last, wordSize) + number(index, wordSize)
      put(meta, at: header, in: &page)
      bytes += page
    }
    return bytes + pages.dropFirst(2).joined()
  }
}
