import Foundation
import LMDBFile

/// What a command reads: a file, or standard input.
struct Input {
  /// The path, for messages.
  let name: String
  private let path: String?

  init(_ path: String?) {
    self.path = path == "-" ? nil : path
    name = self.path ?? "standard input"
  }

  var isFile: Bool { path != nil }

  /// The lines, from the first.
  func lines() throws(Failure) -> LineReader {
    guard let path else { return LineReader { Descriptor.standardInput.read(into: &$0) } }
    let source: ByteSource
    do throws(ReadError) {
      source = try ByteSource(path)
      if try source.status().isDirectory { throw ReadError(.io, "it is a directory, and a text is expected") }
    } catch {
      throw Failure(error, path)
    }
    var offset = 0
    return LineReader { buffer in
      guard let got = try? source.read(into: &buffer, count: buffer.count, at: offset) else { return -1 }
      offset += got
      return got
    }
  }
}
