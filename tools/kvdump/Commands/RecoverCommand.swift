import Foundation
import LMDB
import LMDBFile

/// `recover PATH -o OUT`: saves what can still be read, in a new file.
struct RecoverCommand: Command {
  static let help = Help(
    "recover", "PATH -o OUT", "saves what can still be read of a damaged file, in a new one",
    details: """
      PATH is only read. What the newest commit leads to comes first. If that has holes, records of the older commit, and
      of leaves that nothing leads to, fill them; these may be old versions, or have been removed on purpose. Those whose
      database is not known are in kvdump.recovered. The files of a Holdfast store, those in `attachments` and `files`,
      are copied. The exit code is 1 if something is lost.
      """,
    options: [
      .init("-o, --output", value: "OUT", "the directory to make"),
      .init("--meta", value: "N", "only the commit of meta page 0 or 1, or `best`"),
    ],
    example: "kvdump recover .build/quickstart/store -o .build/quickstart-recovered")

  private let path: String
  private let output: String
  private let choice: Snapshot.Choice

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    guard let output = arguments.value("-o"), !output.isEmpty else {
      throw Failure(.usage, "say where to: `kvdump recover PATH -o OUT`; OUT must not be there yet")
    }
    self.output = output
    switch arguments.value("--meta") {
    case nil, "best": choice = .readable
    case "0": choice = .meta(0)
    case "1": choice = .meta(1)
    case let other?: throw Failure(.usage, "--meta \(printable(other)) is not 0, 1 or best")
    }
  }

  func run(_ context: Context) throws(Failure) {
    let reading = Reading(path)
    var salvage = try reading.naming { () throws(ReadError) in try Salvage(at: path, choice: choice) }
    guard !FileManager.default.fileExists(atPath: output) else {
      throw Failure(.cannotCreate, "\(printable(output)) is there already; name a directory that is not")
    }
    try Loading.makeDirectory(output)
    var isDone = false
    defer { if !isDone { try? FileManager.default.removeItem(atPath: output) } }
    let loading = try Loading(output, mapSize: salvage.mapSize.map { min($0, 1 << 40) })
    let databases = Databases(loading)
    try reading.naming { () throws(ReadError) in
      try salvage.run(open: databases.open) { record in
        databases.take(record)
        if databases.failure == nil, Interrupt.isRequested { databases.failure = Interrupt.failure }
      }
    }
    if let failure = databases.failure { throw failure }
    var lostFiles: [String] = []
    for folder in StoreFolder.all(of: salvage.outcomes.map(\.title)) {
      _ = try folder.copy(of: salvage.file, to: output, context) { (failure) throws(Failure) in
        if failure.kind == .interrupted { throw failure }
        lostFiles.append(failure.message)
      }
    }
    try loading.finish()
    isDone = true
    for lost in lostFiles { try context.output.line("not copied: \(lost)") }
    try report(salvage, loading, databases.refused, context)
    if !lostFiles.isEmpty { throw Failure(.negativeAnswer, "") }
  }

  private func report(_ salvage: Salvage, _ loading: Loading, _ refused: Int, _ context: Context) throws(Failure) {
    let newSize = (try? ByteSource.status(of: "\(output)/data.mdb").size) ?? 0
    for outcome in salvage.outcomes {
      let line = "\(outcome.title): \(outcome.found) of \(outcome.recorded) records"
      let more = outcome.uncertain > 0 ? ", and \(outcome.uncertain) from elsewhere, which may be old" : ""
      try context.output.line(line + more)
    }
    if !salvage.damagedPages.isEmpty {
      let pages = salvage.damagedPages.prefix(10).map(String.init).joined(separator: ", ")
      let rest = salvage.damagedPages.count > 10 ? " and \(salvage.damagedPages.count - 10) more" : ""
      try context.output.line("pages that could not be read: \(pages)\(rest)")
    }
    if refused > 0 { try context.output.line("\(count(refused, "record")) that LMDB does not take, left out") }
    if salvage.hasBrokenMeta && salvage.transactionID != nil {
      try context.output.line("one of the two meta pages is broken: if it was the newer one, its commit is lost")
    }
    let lost = salvage.outcomes.reduce(0) { $0 + max(0, $1.recorded - $1.found) }
    let source = salvage.transactionID.map { "commit \($0)" } ?? "a file without a readable head"
    try context.output.line(
      "recovered \(count(loading.records - loading.met, "record")) of \(source)"
        + (lost > 0 ? "; \(lost) missing from it" : "") + "; wrote \(printable(output)), \(size(newSize))")
    if lost > 0, salvage.outcomes.contains(where: { $0.title == "outbox.entry" }) {
      try context.output.line("next: `kvdump outbox repair \(printable(output))` makes lost indexes of the outbox anew")
    }
    try context.output.flush()
    let isDoubtful = salvage.hasBrokenMeta && salvage.outcomes.contains { $0.uncertain > 0 }
    if lost > 0 || refused > 0 || isDoubtful || salvage.transactionID == nil { throw Failure(.negativeAnswer, "") }
  }
}

/// Stores salvaged records in the databases they belong to.
private final class Databases {
  private let loading: Loading
  private var current: [UInt8]??
  var failure: Failure?
  /// Records that LMDB would not store, such as those with an empty key.
  private(set) var refused = 0

  init(_ loading: Loading) { self.loading = loading }

  /// Makes a database, and has the next records go there.
  func open(_ name: [UInt8]?, _ flags: Tree.Flags) {
    if failure != nil || current == .some(name) { return }
    do throws(Failure) {
      try loading.open(name.map { Tree.trimmed($0) }, flags)
      current = .some(name)
    } catch {
      // One that LMDB cannot have is refused record by record.
      if ![.damagedData, .usage].contains(error.kind) { failure = error }
    }
  }

  func take(_ record: Salvage.Record) {
    open(record.database, record.flags)
    if failure != nil { return }
    do throws(Failure) {
      guard current == .some(record.database) else { return refused += 1 }
      try loading.put(record.key, record.value, record.isUncertain ? .keep : .replace)
    } catch {
      if [.damagedData, .usage].contains(error.kind) { refused += 1 } else { failure = error }
    }
  }
}
