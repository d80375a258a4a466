import Foundation
import LMDB
import LMDBFile

/// `copy PATH TO`: one commit, in a file of its own.
struct CopyCommand: Command {
  static let help = Help(
    "copy", "PATH TO", "copies one commit into a new file, also while a program writes",
    details: """
      TO is a directory that is not there yet. Pages are copied as they are, without a look at what is in them: `verify`
      says whether they are sound. With --compact every record is stored anew, without free pages, in the
      format of LMDB 0.9 on this machine; so a file of LMDB 1.0, of a 32-bit or of a big-endian machine becomes one that
      programs here can open. The files of a Holdfast store, those in `attachments` and `files`, are copied too.
      """,
    options: [.init("--compact", "leave out free pages, and convert other formats")] + Help.reading,
    example: "kvdump copy --compact .build/quickstart/store .build/quickstart-copy")

  private let reading: Reading
  private let target: String
  private let isCompact: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    target = try arguments.operand("the directory to make").withoutEndingSlashes
    isCompact = arguments.has("--compact")
  }

  func run(_ context: Context) throws(Failure) {
    guard !FileManager.default.fileExists(atPath: target) else {
      throw Failure(.cannotCreate, "\(printable(target)) is there already; name a directory that is not")
    }
    let work = FileSystem.workPath(beside: target, "copying")
    defer { try? FileManager.default.removeItem(atPath: work) }
    try Loading.makeDirectory(work)
    var (commit, files) = try attempt(in: work, context)
    var missing = try missingFiles(in: work)
    // What two commits name and nobody has is not there, and no writer has taken it away.
    var isLost = missing.isEmpty
    for _ in 0..<3 where !isLost {
      (commit, files) = try attempt(in: work, context)
      let still = try missingFiles(in: work)
      isLost = still.isSubset(of: missing)
      missing = still
    }
    guard isLost else {
      throw Failure(
        .busy,
        "\(printable(reading.path)): its files are replaced faster than they can be copied; copy it when less is written"
      )
    }
    let file = try reading.file()
    let before = try reading.naming { () throws(ReadError) in try file.source.status().size }
    let after = (try? ByteSource.status(of: "\(work)/data.mdb").size) ?? 0
    do throws(ReadError) {
      try Descriptor.rename(work, to: target)
    } catch {
      throw Failure(.cannotCreate, "\(printable(target)) cannot be made: \(error.description)")
    }
    context.remark(
      "commit \(commit) copied: \(size(before)) became \(size(after))"
        + (files > 0 ? ", with \(count(files, "file"))" : ""))
    if let first = missing.min() {
      throw Failure(
        .negativeAnswer,
        "\(printable(reading.path)) lacks \(count(missing.count, "file")) that its records name, such as \(first), and so "
          + "does the copy; all else is in it")
    }
  }

  /// Copies the data, and the files that are there.
  ///
  /// - Returns: Which commit it was, and how many files are in the copy.
  private func attempt(in work: String, _ context: Context) throws(Failure) -> (commit: UInt64, files: Int) {
    // Files before the data, so that those are there which a writer removes meanwhile; and after it the new ones.
    _ = try copyFolders(of: try reading.snapshot(), to: work, context)
    var copied: (snapshot: Snapshot, complete: () throws(Failure) -> Void)?
    try context.read(reading) { (snapshot) throws(Failure) in
      // What is left of a reading that came to nothing goes before this one begins in its place.
      copied = nil
      try? FileManager.default.removeItem(atPath: "\(work)/data.mdb")
      let complete = try isCompact ? rebuild(snapshot, in: work, context) : copyPages(snapshot, to: work, context)
      copied = (snapshot, complete)
    }
    guard let (snapshot, complete) = copied else { return (0, 0) }
    // What takes its time need not be done before a writer comes round to the pages.
    try complete()
    return (snapshot.meta.transactionID, try copyFolders(of: snapshot, to: work, context))
  }

  /// The files that the data of a copy names, and that have not come along: a writer has removed them meanwhile.
  private func missingFiles(in work: String) throws(Failure) -> Set<String> {
    let copy = Reading(work)
    // What is damaged is for `verify` to report.
    let paths = (try? StoreFolder.paths(in: copy.snapshot(), copy)) ?? []
    return Set(paths.filter { !FileManager.default.fileExists(atPath: "\(work)/\($0)") })
  }

  private func copyFolders(of snapshot: Snapshot, to work: String, _ context: Context) throws(Failure) -> Int {
    // What is damaged is for the copy of the data to report.
    let names = ((try? snapshot.databases()) ?? []).map(\.title)
    var files = 0
    for folder in StoreFolder.all(of: names) { files += try folder.copy(of: snapshot.file, to: work, context) }
    return files
  }

  /// Copies the pages as they are. Both meta pages name the commit, since the file has no other.
  ///
  /// - Returns: What is left to do when all is read.
  private func copyPages(
    _ snapshot: Snapshot, to work: String, _ context: Context
  ) throws(Failure) -> () throws(Failure) -> Void {
    try refuseCut(snapshot)
    let path = "\(work)/data.mdb"
    var output: Output
    do throws(ReadError) { output = Output(try Descriptor(creating: path), name: path) } catch {
      throw Failure(error, path)
    }
    let pageSize = snapshot.layout.pageSize
    let meta = snapshot.metaPages
    try output.write(meta.span)
    let end = min(snapshot.meta.lastPage + 1, snapshot.filePages) * pageSize
    try output.copy(snapshot.file.source, 2 * pageSize..<max(2 * pageSize, end), context)
    try output.flush()
    return { [output] () throws(Failure) in
      var output = output
      try output.close()
    }
  }

  /// Pages that are free may be missing at the end, since LMDB does not write what nobody needs. Others are lost.
  private func refuseCut(_ snapshot: Snapshot) throws(Failure) {
    let missing = snapshot.meta.lastPage + 1 - snapshot.filePages
    if missing <= 0 { return }
    var free: Set<Int> = []
    try reading.naming { () throws(ReadError) in
      try snapshot.forEachFreePage { _, pages in
        for page in pages where page >= snapshot.filePages && page <= snapshot.meta.lastPage { free.insert(page) }
      }
    }
    guard free.count < missing else { return }
    throw Failure(
      .damagedData,
      "\(printable(reading.path)): commit \(snapshot.meta.transactionID) lacks \(count(missing - free.count, "page")), "
        + "since the file has been cut off; `kvdump recover` saves what is left")
  }

  /// Stores all records anew.
  ///
  /// - Returns: What is left to do when all is read.
  private func rebuild(
    _ snapshot: Snapshot, in work: String, _ context: Context
  ) throws(Failure) -> () throws(Failure) -> Void {
    let loading = try Loading(work, mapSize: min(max(snapshot.meta.mapSize, UInt64(snapshot.meta.usedBytes)), 1 << 46))
    let isForeign = snapshot.layout.isBigEndian != Importing.native.isBigEndian
    let databases = try reading.naming { () throws(ReadError) in try snapshot.databases() }
    for tree in [snapshot.main] + databases {
      let flags = tree.flags.intersection(.known)
      try loading.open(tree.name.map { Tree.trimmed($0) }, flags)
      var records = try reading.naming { () throws(ReadError) in try RecordCursor(snapshot, tree) }
      while try reading.naming({ () throws(ReadError) in try records.next() }) {
        if tree.name == nil && records.isDatabase { continue }
        var key = records.key.array
        var value = try reading.naming { () throws(ReadError) in try records.value() }
        if isForeign && flags.contains(.integerKey) { key.reverse() }
        if isForeign && flags.contains(.integerDuplicates) { value.reverse() }
        // Databases come first in the main one, so its own records have to find their place.
        try loading.put(key, value, tree.name == nil ? .replace : .append)
        try context.progress.step("\(loading.records) records")
      }
      try reading.naming { () throws(ReadError) in try records.finish() }
    }
    return { () throws(Failure) in try loading.finish() }
  }
}
