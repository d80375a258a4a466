import Foundation
import LMDB
import LMDBFile

/// `copy PATH TO`: one commit, in a file of its own.
struct CopyCommand: Command {
  static let help = Help(
    "copy", "PATH TO", "copies one commit into a new file, also while a program writes",
    details: """
      TO is a directory that is not there yet. With --compact every record is stored anew, without free pages, in the
      format of LMDB 0.9 on this machine; so a file of LMDB 1.0, of a 32-bit or of a big-endian machine becomes one that
      programs here can open.
      """,
    options: [.init("--compact", "leave out free pages, and convert other formats")] + Help.reading,
    example: "kvdump copy --compact .build/quickstart/store .build/quickstart-copy")

  private let reading: Reading
  private let target: String
  private let isCompact: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    target = try arguments.operand("the directory to make")
    isCompact = arguments.has("--compact")
  }

  func run(_ context: Context) throws(Failure) {
    guard !FileManager.default.fileExists(atPath: target) else {
      throw Failure(.cannotCreate, "\(printable(target)) is there already; name a directory that is not")
    }
    let work = target + ".copying"
    try? FileManager.default.removeItem(atPath: work)
    defer { try? FileManager.default.removeItem(atPath: work) }
    var summary = ""
    try context.read(reading) { (snapshot) throws(Failure) in
      try? FileManager.default.removeItem(atPath: work)
      try Loading.makeDirectory(work)
      let before = try reading.naming { () throws(ReadError) in try snapshot.file.source.status().size }
      if isCompact { try rebuild(snapshot, in: work, context) } else { try copyPages(snapshot, to: work, context) }
      let after = (try? ByteSource.status(of: "\(work)/data.mdb").size) ?? 0
      summary = "commit \(snapshot.meta.transactionID) copied: \(size(before)) became \(size(after))"
    }
    do throws(ReadError) {
      try Descriptor.rename(work, to: target)
    } catch {
      throw Failure(.cannotCreate, "\(printable(target)) cannot be made: \(error.description)")
    }
    context.remark(summary)
  }

  /// Copies the pages as they are. Both meta pages name the commit, since the file has no other.
  private func copyPages(_ snapshot: Snapshot, to work: String, _ context: Context) throws(Failure) {
    let path = "\(work)/data.mdb"
    var output: Output
    do throws(ReadError) { output = Output(try Descriptor(creating: path), name: path) } catch {
      throw Failure(error, path)
    }
    let pageSize = snapshot.layout.pageSize
    var buffer = [UInt8](repeating: 0, count: max(pageSize, 1 << 20))
    let meta = try reading.naming { () throws(ReadError) in try snapshot.metaPages() }
    try output.write(meta.span)
    let end = min(snapshot.meta.lastPage + 1, snapshot.filePages) * pageSize
    var offset = 2 * pageSize
    while offset < end {
      let wanted = min(buffer.count, end - offset)
      let got = try reading.naming { () throws(ReadError) in
        try snapshot.file.source.read(into: &buffer, count: wanted, at: offset)
      }
      guard got > 0 else { break }
      try output.write(buffer.span.extracting(first: got))
      offset += got
      try context.progress.look("\(size(offset)) of \(size(end))")
    }
    try output.close()
  }

  private func rebuild(_ snapshot: Snapshot, in work: String, _ context: Context) throws(Failure) {
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
    try loading.finish()
  }
}
