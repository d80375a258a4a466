import Foundation
import Holdfast

/// Records comments while there is no server.
struct Recorder {
  /// Where the input is to be taken up again.
  static let progressKey: StateKey = "import:comments"

  private let store: Store
  private let options: Options

  init(_ store: Store, _ options: Options) {
    self.store = store
    self.options = options
  }

  func record(_ path: String) throws {
    let lines = try read(path).prefix(options.limit)
    var progress = Progress("recording", of: lines.count)
    let done = try store.state.merged([Self.progressKey])["recorded"]?.intValue ?? 0
    for (index, line) in lines.enumerated().dropFirst(Int(done)) where !line.isEmpty {
      let comment: Comment
      do {
        comment = try JSONDecoder().decode(Comment.self, from: line)
      } catch {
        throw UsageError(
          "\(path):\(index + 1): this line is not a comment (\(Self.reason(error))); the lines before it are recorded")
      }
      try record(comment, line: index + 1)
      if options.printsIDs { FileHandle.standardOutput.write(Data("\(comment.id)\n".utf8)) }
      progress.advance(to: index + 1)
    }
    progress.finish()
    FileHandle.standardError.write(Data("recorded \(lines.count) of \(lines.count) comments\n".utf8))
  }

  /// What the user sees, the request, and how far the input has been read: one transaction.
  private func record(_ comment: Comment, line: Int) throws {
    let attachments = try comment.image.map { image in
      [try store.outbox.stage(Array(image.base64), name: image.name, mediaType: image.mediaType)]
    }
    let request = try comment.request(attachments ?? [])
    try store.write { transaction in
      let recorded = try store.state.merged([Self.progressKey], in: transaction)["recorded"]?.intValue ?? 0
      guard recorded < line else {
        throw UsageError("another process is recording the same comments into \(store.path); let it finish")
      }
      try store.state.update(
        comment.postKey, ["hasComment": true, "lastComment": .string(comment.id)], in: &transaction)
      try store.state.add(1, to: "comments", of: comment.postKey, in: &transaction)
      try store.state.add(1, to: "waiting", of: comment.postKey, in: &transaction)
      try store.state.update(comment.userKey, ["lastPost": .string(comment.post)], in: &transaction)
      try store.state.update(
        comment.commentKey, ["state": "waiting", "text": .string(comment.text)], in: &transaction)
      try store.outbox.enqueue(request, in: &transaction)
      try store.state.update(Self.progressKey, ["recorded": .int(Int64(line))], in: &transaction)
    }
  }

  private func read(_ path: String) throws -> [Data] {
    guard let content = FileManager.default.contents(atPath: path) else {
      throw UsageError("\(path) cannot be read; name a file of JSON Lines")
    }
    var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Data($0) }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "it has no \(key.stringValue.debugDescription)"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "\(context.codingPath.last?.stringValue ?? "it") is of the wrong type"
    case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      "\(context.codingPath.last?.stringValue ?? "it") is not valid"
    default: "it is not JSON"
    }
  }
}

/// A line that counts, on a terminal only.
struct Progress {
  private let verb: String
  private let total: Int
  private let isShown = isatty(2) == 1

  init(_ verb: String, of total: Int) {
    self.verb = verb
    self.total = total
  }

  mutating func advance(to count: Int) {
    if isShown { FileHandle.standardError.write(Data("\r\(verb) \(count) of \(total)".utf8)) }
  }

  func finish() {
    if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
  }
}
