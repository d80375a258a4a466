import LMDBFile

/// `pages PATH`: what each page is used for.
struct PagesCommand: Command {
  static let help = Help(
    "pages", "PATH", "lists what each page is used for, and whose it is",
    options: Help.reading, example: "kvdump pages .build/quickstart/store")

  private let reading: Reading

  init(_ arguments: inout Arguments) throws(Failure) { reading = try Reading(&arguments) }

  func run(_ context: Context) throws(Failure) {
    try context.read(Reading(reading, readable: true)) { (snapshot) throws(Failure) in
      let owners = try reading.naming { () throws(ReadError) in try self.owners(in: snapshot) }
      try context.output.line("PAGES            KIND        DATABASE")
      let last = min(snapshot.meta.lastPage, max(snapshot.filePages, 1))
      var start = 0
      var current = Self.describe(0, owners)
      for page in 1...last + 1 {
        let next = page > last ? "" : Self.describe(page, owners)
        if next == current { continue }
        let range = start == page - 1 ? "\(start)" : "\(start)-\(page - 1)"
        try context.output.line("\(range.padded(to: 15))  \(current)".trimmed)
        (start, current) = (page, next)
        try context.progress.step("page \(page) of \(last)")
      }
    }
  }

  private struct Owner {
    let title: String
    let kind: String
    var pages = PageSet()
  }

  private static func describe(_ page: Int, _ owners: [Owner]) -> String {
    if page < 2 { return "meta".padded(to: 10) }
    guard let owner = owners.first(where: { $0.pages.contains(page) }) else { return "unused" }
    return owner.kind.padded(to: 10) + "  " + owner.title
  }

  private func owners(in snapshot: Snapshot) throws(ReadError) -> [Owner] {
    var owners: [Owner] = []
    var walker = TreeWalker(snapshot)
    for tree in [snapshot.main, snapshot.meta.free] + ((try? snapshot.databases()) ?? []) {
      let title = tree == snapshot.meta.free ? "free list" : tree.title
      var pages: [TreeWalker.Visit.Kind: PageSet] = [:]
      walker.onVisit = { visit in
        for page in visit.page..<visit.page + visit.count { _ = pages[visit.kind, default: PageSet()].insert(page) }
      }
      _ = walker.walk(tree, title: title)
      walker.onVisit = nil
      for kind in TreeWalker.Visit.Kind.allCases {
        if let set = pages[kind] { owners.append(Owner(title: title, kind: kind.rawValue, pages: set)) }
      }
    }
    var free = Owner(title: "", kind: "free")
    try? snapshot.forEachFreePage { _, pages in
      for page in pages where page >= 2 && page <= snapshot.meta.lastPage { _ = free.pages.insert(page) }
    }
    return owners + [free]
  }
}
