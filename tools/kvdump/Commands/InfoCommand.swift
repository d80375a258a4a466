import LMDBFile

/// `info PATH`: what a file is, and how it stands.
struct InfoCommand: Command {
  static let help = Help(
    "info", "PATH", "says what a file is, how large, which commits it holds, and who reads it",
    options: Help.reading, example: "kvdump info .build/quickstart/store")

  private let reading: Reading

  init(_ arguments: inout Arguments) throws(Failure) { reading = try Reading(&arguments) }

  func run(_ context: Context) throws(Failure) {
    let file = try reading.file()
    let reading = Reading(reading, readable: true)
    try context.read(reading) { (snapshot) throws(Failure) in
      let text = try reading.naming { () throws(ReadError) in try describe(snapshot, file) }
      try context.output.line("\(printable(file.path)): \(file.layout.description)")
      try context.output.table(text.map { ["  \($0.0)", $0.1] })
    }
  }

  private func describe(_ snapshot: Snapshot, _ file: DataFile) throws(ReadError) -> [(String, String)] {
    let meta = snapshot.meta
    let status = try file.source.status()
    let other =
      try file.metas().first { $0.number != meta.number }.map {
        previous($0, meta.transactionID, snapshot.filePages)
      } ?? ""
    let databases = try? snapshot.databases()
    let others = snapshot.main.entries - (databases ?? []).count
    let free = try? snapshot.freePageCount()
    var lines = [
      ("commit", "\(meta.transactionID) (meta \(meta.number))\(cut(meta, snapshot.filePages) ?? ""); \(other)"),
      (
        "size",
        "\(size(status.size)), \(size(status.allocated)) on disk; "
          + "\(count(meta.lastPage + 1, "page")) (\(size(meta.usedBytes))), the map \(mapSize(meta.mapSize))"
      ),
      (
        "free",
        free.map { "\(count($0, "page")) (\(size($0 * meta.layout.pageSize)))" } ?? "the list of free pages is damaged"
      ),
      (
        "databases",
        databases.map { "\($0.count) named, \(count(others, "plain record")) in the main one" }
          ?? "\(count(others, "record")) in the list of them, which is damaged"
      ),
      ("contents", databases.map { contents($0.map(\.title)) } ?? "not known"),
      ("readers", try readers(file, meta)),
    ]
    if meta.address != 0 { lines.append(("address", "wants to be mapped at 0x\(String(meta.address, radix: 16))")) }
    return lines
  }

  /// What became of the commit of the other meta page.
  private func previous(_ page: MetaPage, _ newest: UInt64, _ filePages: Int) -> String {
    if let problem = page.problem { return "meta \(page.number) is damaged: \(problem)" }
    guard let meta = page.meta else { return "" }
    if meta.transactionID == newest { return "meta \(page.number) names the same" }
    let state = cut(meta, filePages) ?? (meta.main.root == nil ? " is empty" : " can still be read")
    return "the one before, \(meta.transactionID) (meta \(page.number)),\(state)"
  }

  /// What a commit lacks in a file that ends too early.
  private func cut(_ meta: Meta, _ filePages: Int) -> String? {
    let missing = meta.lastPage + 1 - filePages
    return missing > 0 ? " lacks its last \(count(missing, "page")), since the file has been cut off" : nil
  }

  private func mapSize(_ bytes: UInt64) -> String { bytes > UInt64(Int.max) ? "\(bytes) B" : size(Int(bytes)) }

  private func contents(_ names: [String]) -> String {
    if names.contains("state.record") && names.contains("outbox.entry") { return "a Holdfast store: state and outbox" }
    if names.contains("cache.entry") { return "a Holdfast cache" }
    return "not a Holdfast store"
  }

  private func readers(_ file: DataFile, _ meta: Meta) throws(ReadError) -> String {
    guard (try? ByteSource.status(of: file.lockPath)) != nil else { return "no lock file, so nobody has it open" }
    let table: LockTable?
    do throws(ReadError) {
      table = try LockTable(of: file)
    } catch {
      return "the lock file cannot be read: \(error.description)"
    }
    guard let table else { return "the lock file is of another kind" }
    let active = table.readers.filter { $0.transactionID != nil }
    let processes = Set(table.readers.filter(\.isAlive).map(\.processID)).count
    if active.isEmpty { return processes == 0 ? "none" : "none now; \(count(processes, "process", "processes")) may" }
    let lag =
      active.compactMap(\.transactionID).map { meta.transactionID > $0 ? meta.transactionID - $0 : 0 }.max() ?? 0
    let dead = active.count { !$0.isAlive }
    return "\(active.count), the oldest \(count(Int(lag), "commit")) behind"
      + (dead > 0 ? "; \(dead) of dead processes" : "")
  }
}

extension Reading {
  /// The same, content with the older commit when the newer one cannot be read.
  init(_ reading: Reading, readable: Bool) {
    path = reading.path
    isLocked = reading.isLocked
    choice = readable && reading.choice == .newest ? .readable : reading.choice
  }
}
