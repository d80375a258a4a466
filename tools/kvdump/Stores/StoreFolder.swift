import Foundation
import LMDBFile

/// A folder of files that a store keeps beside its data file, and without which the data is not complete.
enum StoreFolder: CaseIterable {
  /// What requests in the outbox have to send.
  case attachments
  /// The large values of a cache.
  case files

  var name: String { "\(self)" }

  /// The database whose keys are the names of the files.
  private var database: String { self == .attachments ? "outbox.attachment" : "cache.file" }

  /// Where it is beside a data file; `nil` beside one that is not in a directory of its own.
  func path(of file: DataFile) -> String? { file.directory.map { "\($0)/\(name)" } }

  /// The folder whose files the keys of a database name.
  static func name(ofFilesIn database: String) -> String? { allCases.first { $0.database == database }?.name }

  /// The folders of a store with these databases.
  static func all(of databases: [String]) -> [StoreFolder] { allCases.filter { databases.contains($0.database) } }

  /// The files in a folder that are complete, behind links too, in order; none if it is not there.
  static func names(in path: String) throws(Failure) -> [String] {
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: path)
      return names.filter { isFile("\(path)/\($0)") && !$0.hasSuffix(".part") }.sorted()
    } catch {
      guard let status = try? ByteSource.status(of: path) else { return [] }
      if !status.isDirectory { throw Failure(.io, "\(printable(path)) is not a directory, and should be") }
      throw Failure(.io, "\(printable(path)) cannot be listed: \(error.localizedDescription)")
    }
  }

  private static func isFile(_ path: String) -> Bool {
    (try? ByteSource.status(of: path))?.isRegular ?? false
  }

  /// The names that the data gives files, as paths in its directory.
  static func paths(in snapshot: Snapshot, _ reading: Reading) throws(Failure) -> [String] {
    var paths: [String] = []
    for folder in all(of: ((try? snapshot.databases()) ?? []).map(\.title)) {
      try StoreTable(folder.database, of: "table of files", reading, snapshot).forEach { (key, _) throws(Failure) in
        paths.append("\(folder.name)/\(hexadecimal(key))")
        return true
      }
    }
    return paths
  }

  /// Copies what is there and was not copied before. Files never change once they have their name; one that goes
  /// meanwhile belonged to a request that is settled, or a value that is removed.
  ///
  /// - Parameters:
  ///   - file: The data file they belong to.
  ///   - target: The directory of the copy.
  ///   - context: Has the progress.
  ///   - skip: Gets what cannot be read or written, and may throw it.
  /// - Returns: How many files there are in the copy.
  /// - Throws: What `skip` throws, which is any failure without.
  func copy(
    of file: DataFile, to target: String, _ context: Context,
    skip: (Failure) throws(Failure) -> Void = { (failure) throws(Failure) in throw failure }
  ) throws(Failure) -> Int {
    guard let source = path(of: file) else { return 0 }
    var names: [String] = []
    do throws(Failure) { names = try Self.names(in: source) } catch { try skip(error) }
    if names.isEmpty { return 0 }
    let folder = "\(target)/\(name)"
    try Loading.makeDirectory(folder)
    for name in names where !FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
      do throws(Failure) {
        try Self.copy("\(source)/\(name)", to: "\(folder)/\(name)", context)
      } catch {
        try skip(error)
      }
    }
    return try Self.names(in: folder).count
  }

  private static func copy(_ path: String, to target: String, _ context: Context) throws(Failure) {
    let source: ByteSource
    let size: Int
    do throws(ReadError) {
      source = try ByteSource(path)
      size = try source.status().size
    } catch {
      if error.code == .notFound { return }
      throw Failure(error, path)
    }
    let file = try NewFile(target)
    try file.output.copy(source, 0..<size, context)
    try file.output.close()
    try file.appear()
  }
}
