import Foundation
import LMDB
import LMDBFile

/// `import PATH`: makes databases of what `export` wrote, or of anybody's JSON lines or CSV.
struct ImportCommand: Command {
  static let help = Help(
    "import", "PATH", "makes databases of JSON lines or CSV: all of it, or nothing",
    details: """
      PATH is a directory, which is made if it is missing. A line of JSON is {"db": name or null, "k": key, "v": value};
      text stands for its UTF-8 bytes, and {"b64": …}, {"hex": …}, {"u32": …} and {"u64": …} for others. CSV has the columns
      db, key, key_enc, value and value_enc.
      """,
    options: [
      .init("-f, --file", value: "FILE", "read from a file"),
      .init("-F, --format", value: "FORMAT", "jsonl (usual) or csv"),
      .init("-s, --database", value: "NAME", "the database for records that name none"),
      .init("-N, --keep", "leave keys that are there as they are"), Input.option,
    ],
    example: "kvdump export .build/quickstart/store | kvdump import .build/quickstart-imported")

  private enum Format: String, CaseIterable { case jsonl, csv }

  private let path: String
  private let input: Input
  private let format: Format
  private let name: [UInt8]?
  private let mode: BulkLoader.Mode

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    input = try Input(arguments)
    format = try arguments.choice("--format") ?? .jsonl
    name = arguments.value("-s").map { Array($0.utf8) }
    mode = arguments.has("-N") ? .keep : .replace
  }

  func run(_ context: Context) throws(Failure) {
    guard !FileManager.default.fileExists(atPath: "\(path)/data.mdb") || input.isFile else {
      throw Failure(
        .usage, "\(printable(path)) is there already; give the input as a file with -f, since it is read twice")
    }
    if let size = try existingSize() { return try load(size, context) }
    try Loading.inDirectory(path) { () throws(Failure) in try load(nil, context) }
  }

  private func load(_ size: UInt64?, _ context: Context) throws(Failure) {
    var importing = Importing(path, mapSize: size, default: name, mode)
    var line = 0
    do throws(Failure) {
      switch format {
      case .jsonl: try readLines(&importing, &line, context)
      case .csv: try readFields(&importing, &line, context)
      }
      try importing.finish()
    } catch {
      guard [.damagedData, .usage].contains(error.kind) else { throw error }
      throw Failure(
        .damagedData, "\(printable(input.name)), line \(line): \(clause(error.message)); nothing was imported")
    }
    context.progress.clear()
    context.remark("\(importing.summary) imported")
    if let remark = importing.remark { context.remark(remark) }
  }

  /// For an existing file, how large its map must be.
  private func existingSize() throws(Failure) -> UInt64? {
    guard FileManager.default.fileExists(atPath: "\(path)/data.mdb") else { return nil }
    let meta = try Reading(path).snapshot().meta
    let text = (try? FileManager.default.attributesOfItem(atPath: input.name)[.size] as? Int) ?? 0
    return max(meta.mapSize, UInt64(meta.usedBytes)) + UInt64(text) * 4 + 1 << 20
  }

  private func readLines(_ importing: inout Importing, _ line: inout Int, _ context: Context) throws(Failure) {
    var lines = try input.lines()
    var digest = SHA256()
    var isEnded = false
    while lines.next() {
      line = lines.number
      if isEnded { throw Failure(.damagedData, "there is more after the last line") }
      var bytes = lines.line
      if bytes.last == 0x0D { bytes.removeLast() }
      if bytes.isEmpty { continue }
      guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
        throw Failure(.damagedData, "it is not a JSON object")
      }
      if object["kvdump"] != nil {
        try importing.take(header: object)
      } else if object["end"] != nil {
        isEnded = true
        if let records = object["records"] as? Int, records != importing.records {
          throw Failure(.damagedData, "\(records) records were written, and \(importing.records) are here")
        }
        if let hash = object["sha256"] as? String, hash != digest.digest() {
          throw Failure(.damagedData, "the SHA-256 differs: the text has been changed")
        }
      } else {
        try importing.take(object)
      }
      let ended = bytes + [0x0A]
      let span = ended.span
      digest.update(span)
      try context.progress.step("\(importing.records) records")
    }
    line = lines.number
    if let failure = lines.failure { throw Failure(lines.isUnreadable ? .io : .damagedData, failure.what) }
    if importing.expectsTrailer && !isEnded {
      throw Failure(.damagedData, "the last line is missing: the text is not complete")
    }
    if importing.isEmpty { throw Failure(.damagedData, "the input is empty") }
  }

  private func readFields(_ importing: inout Importing, _ line: inout Int, _ context: Context) throws(Failure) {
    var reader = CSVReader(try input.lines())
    do throws(DumpParser.Malformed) {
      guard let header = try reader.next(), header.count == 5, header[0] == Array("db".utf8) else {
        throw DumpParser.Malformed(line: 1, what: "the columns should be db,key,key_enc,value,value_enc")
      }
      while let fields = try reader.next() {
        line = reader.line
        do throws(Failure) {
          try importing.take(fields)
          try context.progress.step("\(importing.records) records")
        } catch {
          throw DumpParser.Malformed(line: reader.line, what: error.message)
        }
      }
    } catch {
      line = error.line
      throw Failure(error.isUnreadable ? .io : .damagedData, error.what)
    }
  }
}
