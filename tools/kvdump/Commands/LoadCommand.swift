import Foundation
import LMDB
import LMDBFile

/// `load PATH`: makes databases of the text of `dump` or mdb_dump.
struct LoadCommand: Command {
  static let help = Help(
    "load", "PATH", "makes databases of a text that `dump` or mdb_dump wrote: all of it, or nothing",
    details: """
      PATH is a directory, which is made if it is missing. The text comes from standard input or a file. A new data file
      appears once it is complete; an existing one is changed in one transaction, and its other records stay. A text that
      is malformed or has been cut off is refused with the number of the line, and nothing is changed.
      """,
    options: [
      .init("-f, --file", value: "FILE", "read from a file"),
      .init("-s, --database", value: "NAME", "the database for records of the main one"),
      .init("-a, --append", "keep the order of the text, for databases whose program has an order of its own"),
      .init("-N, --keep", "leave keys that are there as they are"),
      .init("-T, --plain", "the text has no headers: a line for a key, a line for its value"),
      .init("-n, --single-file", "PATH is a data file, not a directory"),
      .init("-Q, --no-sync", "do not wait until an existing file is on the device"),
      .init("--dry-run", "only check the text"), Input.option,
    ],
    example: "kvdump dump --all .build/quickstart/store | kvdump load .build/quickstart-loaded")

  private let path: String
  private let input: Input
  private let name: String?
  private let mode: BulkLoader.Mode
  private let isPlain: Bool
  private let isFile: Bool
  private let synchronizes: Bool
  private let isDryRun: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    input = try Input(arguments)
    name = arguments.value("-s")
    if arguments.has("-a") && arguments.has("-N") {
      throw Failure(.usage, "-a and -N exclude each other: what is appended cannot be there already")
    }
    mode = arguments.has("-a") ? .append : arguments.has("-N") ? .keep : .replace
    isPlain = arguments.has("-T")
    isFile = arguments.has("-n")
    synchronizes = !arguments.has("-Q")
    isDryRun = arguments.has("--dry-run")
  }

  func run(_ context: Context) throws(Failure) {
    let data = isFile ? path : "\(path)/data.mdb"
    var input = input
    var spool: TemporaryFile?
    if isDryRun || FileManager.default.fileExists(atPath: data) {
      // One transaction needs a map that is large enough, and so the size of the input.
      if !input.isFile && !isDryRun {
        let copy = try TemporaryFile(copyOf: input)
        spool = copy
        input = input.at(copy.path)
      }
      let size = try check(input, context)
      if isDryRun { return }
      try load(input, mapSize: try existingMapSize(data) + UInt64(size) * 3 + 1 << 20, context)
    } else if isFile {
      try load(input, mapSize: nil, context)
    } else {
      try Loading.inDirectory(path) { () throws(Failure) in try load(input, mapSize: nil, context) }
    }
    spool?.remove()
  }

  private func existingMapSize(_ data: String) throws(Failure) -> UInt64 {
    let reading = Reading(data)
    let meta = try reading.snapshot().meta
    return max(meta.mapSize, UInt64(meta.usedBytes))
  }

  /// Reads all of the text, and adds up its records.
  private func check(_ input: Input, _ context: Context) throws(Failure) -> Int {
    var parser = DumpParser(try input.lines(), isPlain: isPlain)
    var (size, records) = (0, 0)
    do throws(DumpParser.Malformed) {
      while let event = try parser.next() {
        guard case .record = event else { continue }
        size += parser.key.count + parser.value.count + 32
        records += 1
      }
    } catch {
      throw Self.malformed(error, input)
    }
    if isDryRun { context.remark("\(input.name) is well-formed: \(count(records, "record"))") }
    return size
  }

  private static func malformed(_ error: DumpParser.Malformed, _ input: Input) -> Failure {
    Failure(
      error.isUnreadable ? .io : .damagedData,
      "\(printable(input.name)), line \(error.line): \(clause(error.what)); nothing was loaded")
  }

  private func load(_ input: Input, mapSize: UInt64?, _ context: Context) throws(Failure) {
    var parser = DumpParser(try input.lines(), isPlain: isPlain)
    var loading: Loading?
    if isPlain {
      loading = try open(mapSize)
      try loading?.open(name.map { Array($0.utf8) }, [])
    }
    while let event = try next(&parser, input) {
      do throws(Failure) {
        switch event {
        case .section(let section):
          if !section.ignored.isEmpty {
            context.remark(
              "line \(parser.line): \(section.ignored.map { printable($0) }.joined(separator: ", ")) ignored")
          }
          let target: Loading
          if let loading { target = loading } else { target = try open(mapSize ?? section.mapSize) }
          try target.open(section.name ?? name.map { Array($0.utf8) }, section.flags)
          loading = target
        case .record:
          try loading?.put(parser.key, parser.value, mode)
          try context.progress.step("\(loading?.records ?? 0) records")
        case .end: break
        }
      } catch {
        // What is wrong with a record has a line; what is wrong with the disk has not.
        guard [.damagedData, .usage].contains(error.kind) else { throw error }
        throw Self.malformed(DumpParser.Malformed(line: parser.line, what: error.message), input)
      }
    }
    try loading?.finish()
    context.progress.clear()
    context.remark("\(loading?.summary(mode) ?? "nothing") loaded")
    if let remark = loading?.remark { context.remark(remark) }
  }

  private func open(_ mapSize: UInt64?) throws(Failure) -> Loading {
    try Loading(path, isFile: isFile, mapSize: mapSize, synchronizes: synchronizes)
  }

  private func next(_ parser: inout DumpParser, _ input: Input) throws(Failure) -> DumpParser.Event? {
    do throws(DumpParser.Malformed) { return try parser.next() } catch { throw Self.malformed(error, input) }
  }
}

/// A copy of standard input, since a text may have to be read twice.
private final class TemporaryFile {
  let path: String

  init(copyOf input: Input) throws(Failure) {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("kvdump-\(UUID().uuidString)").path
    do throws(ReadError) {
      var output = Output(try Descriptor(creating: path), name: path)
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      do throws(Failure) {
        while true {
          let got = Descriptor.standardInput.read(into: &buffer)
          if got < 0 { throw Failure(.io, "standard input cannot be read") }
          if got == 0 { break }
          try output.write(buffer.span.extracting(first: got))
        }
        try output.flush()
      } catch {
        throw ReadError(.io, error.message)
      }
    } catch {
      throw Failure(.io, "standard input cannot be copied to \(printable(path)): \(error.description)")
    }
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  deinit { remove() }
}
