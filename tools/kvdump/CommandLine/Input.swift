import Foundation
import LMDBFile

/// What a command reads: a file, or standard input.
struct Input {
  /// The path, for messages.
  let name: String
  private let path: String?
  private let lineLimit: Int

  /// For commands that read lines.
  static let option = Help.Option(
    "--max-line", value: "MIB", "the longest line in MiB, 160 without; a line takes as much memory")

  init(_ path: String?, lineLimit: Int = LineReader.usualLimit) {
    self.path = path == "-" ? nil : path
    self.lineLimit = lineLimit
    name = self.path ?? "standard input"
  }

  /// What a command is to read, by its option -f.
  init(_ arguments: Arguments) throws(Failure) {
    let limit = try arguments.number("--max-line")
    if let limit, !(1...(1 << 20)).contains(limit) {
      throw Failure(.usage, "--max-line \(limit): a number of MiB from 1 is expected")
    }
    self.init(arguments.value("-f"), lineLimit: limit.map { $0 << 20 } ?? LineReader.usualLimit)
  }

  /// The same text in another place.
  func at(_ path: String) -> Input { Input(path, lineLimit: lineLimit) }

  var isFile: Bool { path != nil }

  /// The lines, from the first.
  func lines() throws(Failure) -> LineReader {
    guard let path else { return LineReader(limit: lineLimit) { Descriptor.standardInput.read(into: &$0) } }
    let source: ByteSource
    do throws(ReadError) {
      source = try ByteSource(path)
      if try source.status().isDirectory { throw ReadError(.io, "it is a directory, and a text is expected") }
    } catch {
      throw Failure(error, path)
    }
    var offset = 0
    return LineReader(limit: lineLimit) { buffer in
      guard let got = try? source.read(into: &buffer, count: buffer.count, at: offset) else { return -1 }
      offset += got
      return got
    }
  }
}
