/// Takes out of a damaged file what can still be read.
///
/// First what the chosen commit leads to. Only where that has holes: what the other meta page leads to, and what lies on
/// leaves that nothing leads to and that are not known to be free. The latter may be old; they never replace what was
/// found by a better way.
package struct Salvage {
  /// A record, and where it belongs.
  package struct Record: Sendable {
    package let database: [UInt8]?
    package let flags: Tree.Flags
    package let key: [UInt8]
    package let value: [UInt8]
    /// Whether it may be an older version, or have been removed.
    package let isUncertain: Bool
  }

  /// What became of one database.
  package struct Outcome: Sendable {
    package let title: String
    /// How many records the file says there are.
    package let recorded: Int
    /// How many were found by way of the commit.
    package fileprivate(set) var found: Int
    /// How many more were found in another way.
    package fileprivate(set) var uncertain = 0
    package let name: [UInt8]?
    let flags: Tree.Flags

    package var isWhole: Bool { found >= recorded }
  }

  /// What databases are called that records are put into whose own is not known.
  package static let orphanName = "kvdump.recovered"
  package static let orphanDuplicatesName = "kvdump.recovered.duplicates"

  package let file: DataFile
  private let snapshots: [Snapshot]
  /// Whether a meta page is broken, so that its commit, perhaps the newest, cannot be found.
  package let hasBrokenMeta: Bool
  package private(set) var outcomes: [Outcome] = []
  /// Pages that could not be read, or were not what they should be.
  package private(set) var damagedPages: [Int] = []
  /// The pages of trees that have been walked.
  private var used = PageSet()
  /// The pages of values and of duplicates that have been handed out.
  private var read = PageSet()

  /// Opens a file for salvage, even one without a readable head.
  ///
  /// - Throws: `notFound`, `denied` or `io`; `notLMDB` if there is no page of LMDB in it.
  package init(at path: String, choice: Snapshot.Choice) throws(ReadError) {
    let file: DataFile
    do throws(ReadError) {
      file = try DataFile(at: path)
    } catch {
      guard [.notLMDB, .damaged].contains(error.code) else { throw error }
      file = try Self.file(ByteSource(try DataFile.dataPath(path)), else: error)
    }
    try self.init(file, choice)
  }

  /// Takes bytes that were a data file.
  package init(_ source: ByteSource, _ choice: Snapshot.Choice) throws(ReadError) {
    let file: DataFile
    do throws(ReadError) { file = try DataFile(source) } catch { file = try Self.file(source, else: error) }
    try self.init(file, choice)
  }

  /// A file without a readable head, by the layout that its pages seem to have.
  private static func file(_ source: ByteSource, else error: ReadError) throws(ReadError) -> DataFile {
    guard try source.status().isRegular, let layout = try LayoutGuess.layout(of: source) else { throw error }
    return DataFile(source, assuming: layout)
  }

  /// Takes an open file.
  package init(_ file: DataFile, _ choice: Snapshot.Choice) throws(ReadError) {
    self.file = file
    let metas = try file.metas()
    hasBrokenMeta = metas.contains { $0.problem != nil }
    let sound = metas.compactMap(\.sound).sorted { $0.transactionID > $1.transactionID }
    var found: [Snapshot] = []
    for meta in sound {
      if case .meta(let number) = choice, number != meta.number { continue }
      found.append(try Snapshot(file, meta))
    }
    snapshots = found
  }

  /// The commit that was chosen, if there is any.
  package var transactionID: UInt64? { snapshots.first?.meta.transactionID }
  package var mapSize: UInt64? { snapshots.first?.meta.mapSize }

  /// Hands out all records that can be found; `open` gets each database before its records, also an empty one.
  package mutating func run(
    open: (_ database: [UInt8]?, Tree.Flags) -> Void = { _, _ in }, _ emit: (Record) -> Void
  ) throws(ReadError) {
    if let newest = snapshots.first {
      for tree in trees(of: newest) { walk(tree, newest, open, emit) }
    }
    let holes = outcomes.filter { !$0.isWhole }
    guard hasBrokenMeta || !holes.isEmpty || !damagedPages.isEmpty else { return }
    for older in snapshots.dropFirst() {
      for tree in trees(of: older) where holes.contains(where: { $0.name == tree.name }) { fill(tree, older, emit) }
    }
    try scan(holes, open, emit)
  }

  /// The databases that can be seen; the main one first.
  private mutating func trees(of snapshot: Snapshot) -> [Tree] {
    var found = [snapshot.main]
    var walker = TreeWalker(snapshot)
    walker.onLeaf = { page, _ in
      var records = LeafRecords(snapshot)
      records.forEach(of: page, database: { found.append($0) }, { _, _, _ in })
    }
    _ = walker.walk(snapshot.main)
    return found
  }

  private mutating func walk(
    _ tree: Tree, _ snapshot: Snapshot, _ open: (_ database: [UInt8]?, Tree.Flags) -> Void, _ emit: (Record) -> Void
  ) {
    open(tree.name, tree.flags.intersection(.known))
    var outcome = Outcome(
      title: tree.title, recorded: tree.entries, found: 0, name: tree.name, flags: tree.flags.intersection(.known))
    var databases = 0
    withoutActuallyEscaping(emit) { emit in
      // Trees that share pages are damage, and are not read again and again.
      var walker = TreeWalker(snapshot, reached: used)
      var records = LeafRecords(snapshot, read: read)
      var found = 0
      walker.onLeaf = { page, _ in
        records.forEach(of: page, database: { _ in databases += 1 }) { key, value, _ in
          emit(Record(database: tree.name, flags: outcome.flags, key: key, value: value, isUncertain: false))
          found += 1
        }
      }
      _ = walker.walk(tree)
      walker.onLeaf = nil
      outcome.found = found
      used = walker.used
      read = records.used
      damagedPages += walker.problems.compactMap(\.page)
    }
    outcome.found += databases
    outcomes.append(outcome)
  }

  /// Adds what an older commit leads to.
  private mutating func fill(_ tree: Tree, _ snapshot: Snapshot, _ emit: (Record) -> Void) {
    guard let index = outcomes.firstIndex(where: { $0.name == tree.name }) else { return }
    let flags = outcomes[index].flags
    var added = 0
    let known = used
    withoutActuallyEscaping(emit) { emit in
      var walker = TreeWalker(snapshot)
      var records = LeafRecords(snapshot, read: read)
      walker.onLeaf = { page, _ in
        // What both commits share has been handed out.
        if known.contains(page.number) { return }
        records.forEach(of: page) { key, value, _ in
          emit(Record(database: tree.name, flags: flags, key: key, value: value, isUncertain: true))
          added += 1
        }
      }
      _ = walker.walk(tree)
      walker.onLeaf = nil
      used.formUnion(walker.used)
      read = records.used
    }
    outcomes[index].uncertain += added
  }

  // MARK: Leaves that nothing leads to

  private mutating func scan(
    _ holes: [Outcome], _ open: (_ database: [UInt8]?, Tree.Flags) -> Void, _ emit: (Record) -> Void
  ) throws(ReadError) {
    // Beyond the last page of the commit there may be those of a newer one.
    let snapshot = try Snapshot(file, Meta(spanning: file))
    let free = snapshots.first.map(freePages) ?? PageSet()
    for commit in snapshots { used.formUnion(listPages(commit)) }
    var page = Page()
    var leaves: [(number: Int, transaction: UInt64)] = []
    for number in 2..<max(2, snapshot.filePages) where !used.contains(number) && !free.contains(number) {
      guard (try? snapshot.read(number, into: &page)) != nil, page.frame.kind == .leaf,
        !FreeList.isLeaf(page, snapshot)
      else { continue }
      leaves.append((number, page.transactionID(snapshot.layout)))
    }
    // Where pages say which commit wrote them, the newest come first, since later ones do not replace them.
    leaves.sort { ($1.transaction, $0.number) < ($0.transaction, $1.number) }
    adoptDatabases(on: leaves.map(\.number), snapshot, open, emit)
    for (number, _) in leaves where !used.contains(number) && !read.contains(number) {
      guard (try? snapshot.read(number, into: &page)) != nil else { continue }
      adopt(page, snapshot, holes, emit)
    }
  }

  /// Walks databases that are described on leaves nothing leads to. A main leaf is there in several versions: of each
  /// database the description counts that leads to the most.
  private mutating func adoptDatabases(
    on leaves: [Int], _ snapshot: Snapshot, _ open: (_ database: [UInt8]?, Tree.Flags) -> Void, _ emit: (Record) -> Void
  ) {
    var best: [[UInt8]: (tree: Tree, score: Int)] = [:]
    var page = Page()
    // Some versions of every database can be compared, but not any number.
    var budget = 100 * (snapshot.filePages + 1000)
    for number in leaves where budget > 0 {
      guard (try? snapshot.read(number, into: &page)) != nil else { continue }
      var records = LeafRecords(snapshot)
      var trees: [Tree] = []
      records.forEach(of: page, database: { trees.append($0) }, { _, _, _ in })
      for tree in trees where budget > 0 {
        guard let name = tree.name, !outcomes.contains(where: { $0.name == name }) else { continue }
        var walker = TreeWalker(snapshot)
        let summary = walker.walk(tree)
        budget -= walker.used.count + 1
        let isRight = summary.isComplete && summary.entries == tree.entries
        let score = 2 * summary.entries + (isRight ? 1 : 0)
        if score >= best[name]?.score ?? 0 { best[name] = (tree, score) }
      }
    }
    for (_, found) in best.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      walk(found.tree, snapshot, open, emit)
    }
  }

  private mutating func adopt(_ page: Page, _ snapshot: Snapshot, _ holes: [Outcome], _ emit: (Record) -> Void) {
    var records = LeafRecords(snapshot, read: read)
    var found: [([UInt8], [UInt8], Bool)] = []
    records.forEach(of: page) { found.append(($0, $1, $2)) }
    // Keys without values are what a tree of duplicates is made of, and nothing says which key they are under.
    let areValues = found.allSatisfy { $0.1.isEmpty && !$0.2 }
    for (key, value, isDuplicate) in found {
      // With one hole, that is where they are missing, unless they do not fit there.
      let fits = holes.count == 1 && (holes[0].flags.contains(.duplicates) ? !areValues : !isDuplicate)
      let home = fits ? holes[0] : nil
      let orphan = Array((isDuplicate ? Self.orphanDuplicatesName : Self.orphanName).utf8)
      let isMain = outcomes.allSatisfy { $0.name == nil && $0.recorded == 0 } && !isDuplicate
      let name = home.map(\.name) ?? (isMain ? nil : orphan)
      let flags = home?.flags ?? (isDuplicate ? .duplicates : [])
      emit(Record(database: name, flags: flags, key: key, value: value, isUncertain: true))
      count(name, flags)
    }
    read = records.used
    _ = used.insert(page.number)
  }

  private mutating func count(_ name: [UInt8]?, _ flags: Tree.Flags) {
    if let index = outcomes.firstIndex(where: { $0.name == name }) {
      outcomes[index].uncertain += 1
    } else {
      let title = name.map { String(escaping: $0) } ?? "main"
      outcomes.append(Outcome(title: title, recorded: 0, found: 0, uncertain: 1, name: name, flags: flags))
    }
  }

  private func freePages(_ snapshot: Snapshot) -> PageSet {
    var free = PageSet()
    try? snapshot.forEachFreePage { _, pages in
      for page in pages where page >= 2 && page <= snapshot.meta.lastPage { _ = free.insert(page) }
    }
    return free
  }

  /// The pages that hold the list of free ones, which are nobody's records.
  private func listPages(_ snapshot: Snapshot) -> PageSet {
    var walker = TreeWalker(snapshot)
    _ = walker.walk(snapshot.meta.free)
    return walker.used
  }
}
