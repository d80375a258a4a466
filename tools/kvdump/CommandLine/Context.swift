import Foundation
import LMDB
import LMDBFile

/// What a command works with: its output, what it may say beside it, and how it reads a file.
final class Context {
  var output = Output()
  let isQuiet: Bool
  var progress: Progress

  init(_ arguments: Arguments) throws(Failure) {
    let choice: Style.Choice = try arguments.choice("--color") ?? .auto
    output.isColored = choice.isColored(onTerminal: output.isTerminal, ProcessInfo.processInfo.environment)
    isQuiet = arguments.has("--quiet")
    progress = Progress(isShown: !isQuiet && Descriptor.standardError.isTerminal)
  }

  /// Says something that is neither data nor an error.
  func remark(_ text: String) {
    if !isQuiet { writeError("kvdump: \(text)\n") }
  }

  /// Runs `body` on one commit of a file, again if a writer has reused its pages meanwhile, and writes what it puts out.
  ///
  /// - Throws: `busy` if the writer was faster three times, or if part of the output had to leave before it was.
  func read(_ reading: Reading, _ body: (Snapshot) throws(Failure) -> Void) throws(Failure) {
    let holdsPlace = try reading.isLocked ? reading.hasLockFile() : false
    if holdsPlace { try readLocked(reading, body) } else { try readFreely(reading, body) }
  }

  private func readFreely(_ reading: Reading, _ body: (Snapshot) throws(Failure) -> Void) throws(Failure) {
    for _ in 1...3 {
      output.discard()
      let snapshot = try reading.snapshot()
      output.mayWrite = { () throws(Failure) in
        if try !Self.isIntact(snapshot, reading) { throw Self.changed(reading, isPartial: true) }
      }
      var failure: Failure?
      do throws(Failure) { try body(snapshot) } catch { failure = error }
      // Whatever went wrong on pages that have been reused says nothing.
      if failure?.kind == .interrupted { break }
      if try Self.isIntact(snapshot, reading) {
        output.mayWrite = nil
        try finish(failure)
        return
      }
      if output.hasWritten { throw Self.changed(reading, isPartial: true) }
    }
    if Interrupt.isRequested { throw Interrupt.failure }
    throw Self.changed(reading, isPartial: false)
  }

  private func readLocked(_ reading: Reading, _ body: (Snapshot) throws(Failure) -> Void) throws(Failure) {
    var failure: Failure?
    do {
      let directory = try reading.directory()
      let options = Environment.Options(mode: .readOnly)
      let environment = try Environment.open(at: directory, databases: [], options: options)
      try environment.read { _ in
        do throws(Failure) { try body(try reading.snapshot()) } catch { failure = error }
      }
    } catch {
      throw Failure(error)
    }
    try finish(failure)
  }

  private func finish(_ failure: Failure?) throws(Failure) {
    progress.clear()
    try output.flush()
    if let failure { throw failure }
  }

  private static func isIntact(_ snapshot: Snapshot, _ reading: Reading) throws(Failure) -> Bool {
    do throws(ReadError) { return try snapshot.isIntact() } catch { throw Failure(error, reading.path) }
  }

  private static func changed(_ reading: Reading, isPartial: Bool) -> Failure {
    Failure(
      .busy,
      "\(printable(reading.path)): it is being written faster than it can be read"
        + (isPartial ? ", so the output is not complete; " : "; ") + "add --lock to hold a snapshot")
  }
}

/// Which commit of which file a command reads, and how.
struct Reading {
  let path: String
  let isLocked: Bool
  let choice: Snapshot.Choice

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    isLocked = arguments.has("--lock")
    switch arguments.value("--meta") {
    case nil: choice = .newest
    case "0": choice = .meta(0)
    case "1": choice = .meta(1)
    case let other?: throw Failure(.usage, "--meta \(printable(other)): there are only meta pages 0 and 1")
    }
  }

  init(_ path: String) {
    self.path = path
    isLocked = false
    choice = .newest
  }

  func file() throws(Failure) -> DataFile {
    do throws(ReadError) { return try DataFile(at: path) } catch { throw Failure(error, path) }
  }

  func snapshot() throws(Failure) -> Snapshot {
    let file = try file()
    do throws(ReadError) { return try Snapshot(file, choice) } catch { throw Failure(error, path) }
  }

  /// A database by its name on the command line; the main one without.
  func database(_ name: String?, in snapshot: Snapshot) throws(Failure) -> Tree {
    guard let name else { return snapshot.main }
    do throws(ReadError) {
      return try snapshot.database(Array(name.utf8))
    } catch {
      // As it is comes first, as mdb_dump has it; then as `ls` shows it.
      guard error.code == .unknownDatabase, name.contains("\\"), let bytes = try? KeyText.bytes(of: name) else {
        throw Failure(error, path)
      }
      return try naming { () throws(ReadError) in try snapshot.database(bytes) }
    }
  }

  /// Runs what reads a file, and names the file in its errors.
  func naming<R: ~Copyable>(_ body: () throws(ReadError) -> R) throws(Failure) -> R {
    do throws(ReadError) { return try body() } catch { throw Failure(error, path) }
  }

  /// Whether there is a lock file to hold a place in; without one no program has the file open, and none is made.
  fileprivate func hasLockFile() throws(Failure) -> Bool {
    (try? ByteSource.status(of: "\(try directory())/lock.mdb")) != nil
  }

  func directory() throws(Failure) -> String {
    do throws(ReadError) {
      if try ByteSource.status(of: path).isDirectory { return path }
    } catch {
      throw Failure(error, path)
    }
    if let directory = DataFile.directory(ofDataFile: path) { return directory }
    throw Failure(.usage, "\(printable(path)): --lock needs a directory with a data.mdb; this is a single file")
  }
}

func writeError(_ text: String) {
  let bytes = Array(text.utf8)
  _ = Descriptor.standardError.write(bytes, count: bytes.count)
}
