import Foundation
import Holdfast

/// The worked example: comments are written without a network, and reach the server when there is one.
@main
enum OfflineComments {
  private static let help = """
    Usage: offline-comments COMMAND STORE [ARGUMENTS]

      record STORE FILE [--limit N] [--print-ids]
          records each line of a JSON Lines file: what the user sees, and the request that will be sent, in one
          transaction; goes on after the last recorded line if it has been interrupted
      replay STORE URL [--concurrency N] [--print-ids]
          sends what has been recorded to the server at URL, until nothing is left
      show STORE KEY...
          prints the records of the keys, such as post:4711, merged into one JSON object
      status STORE
          prints how many comments have been recorded, and how many requests are pending or dead
    """

  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch let error as UsageError {
      stop(error.message, 64)
    } catch let error as StoreError {
      stop(error.description, error.code.remedy == .fixTheCall ? 66 : 74)
    } catch {
      stop("\(error)", 70)
    }
  }

  private static func run(_ words: [String]) async throws {
    guard let command = words.first, !["help", "--help", "-h"].contains(command) else { return print(help) }
    guard words.count >= 2, !words[1].isEmpty else { throw UsageError("name the directory of the store; see `help`") }
    let options = try Options(words.dropFirst(2))
    let path = words[1]
    switch command {
    case "record":
      let file = try options.word("the file of comments", "record STORE comments.jsonl")
      try Recorder(Store.open(at: path), options).record(file)
    case "replay":
      let url = try options.word("the URL of the server", "replay STORE http://127.0.0.1:8080/")
      try await Replay(Store.open(at: path), url, options).run()
    case "show":
      print(try Store.open(at: path, isReadOnly: true).state.merged(options.words.map { StateKey($0) }))
    case "status":
      let store = try Store.open(at: path, isReadOnly: true)
      let counts = try store.outbox.counts()
      let recorded = try store.state.merged([Recorder.progressKey])["recorded"]?.intValue ?? 0
      print("{\"recorded\": \(recorded), \"pending\": \(counts.pending), \"dead\": \(counts.dead)}")
    default: throw UsageError("there is no command \(command.debugDescription); `help` lists them")
    }
  }

  private static func stop(_ message: String, _ code: Int32) {
    FileHandle.standardError.write(Data("offline-comments: \(message)\n".utf8))
    exit(code)
  }
}

/// The command line is wrong.
struct UsageError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

/// What follows the store on the command line.
struct Options {
  private(set) var words: [String] = []
  private(set) var limit = Int.max
  private(set) var concurrency = 4
  private(set) var printsIDs = false

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let word = rest.popFirst() {
      switch word {
      case "--print-ids": printsIDs = true
      case "--limit": limit = try Self.number(rest.popFirst(), after: word)
      case "--concurrency": concurrency = try Self.number(rest.popFirst(), after: word)
      case _ where word.hasPrefix("--"): throw UsageError("there is no option \(word.debugDescription); see `help`")
      default: words.append(word)
      }
    }
  }

  func word(_ what: String, _ example: String) throws -> String {
    guard let word = words.first, words.count == 1 else {
      throw UsageError("name \(what) after the store, as in `\(example)`")
    }
    return word
  }

  private static func number(_ word: String?, after option: String) throws -> Int {
    guard let word, let number = Int(word), number > 0 else {
      throw UsageError("\(option) needs a number above zero, such as `\(option) 8`")
    }
    return number
  }
}
