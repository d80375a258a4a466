import Foundation
import TestSupport
import Testing

/// The worked example, as its users meet it.
@Suite struct OfflineCommentsTests {
  private let directory = TemporaryDirectory()
  private var store: String { "\(directory.path)/store" }
  private static let comments = "\(Place.root)/tools/offline-comments/comments.jsonl"

  private func run(_ arguments: String...) throws -> Command {
    try Command(Place.product("offline-comments"), arguments)
  }

  private func story(_ arguments: String...) throws -> Command {
    let options = ["--binary", Place.product("offline-comments"), "--records", "80"]
    return try Command("\(Place.root)/tools/offline-comments/run", options + arguments)
  }

  @Test func nothingIsLostOrDuplicatedThroughKillsAndFaults() throws {
    let story = try story()
    #expect(story.status == 0, "\(story.output)\(story.errors)")
    for line in [#/recorded +80 /#, #/lost +0\n/#, #/duplicated +0\n/#, #/out of order in their post +0\n/#] {
      #expect(story.output.contains(line))
    }
  }

  @Test func aServerWithoutIdempotencyIsReportedHonestly() throws {
    let story = try story("--without-idempotency", "--fault-rate", "0.5")
    #expect(story.status == 1)
    #expect(story.output.contains(#/duplicated +[1-9]/#))
    #expect(story.output.contains("ignores idempotency keys"))
  }

  @Test func recordingGoesOnWhereItStopped() throws {
    #expect(try run("record", store, Self.comments, "--limit", "30").status == 0)
    let rest = try run("record", store, Self.comments, "--limit", "50", "--print-ids")
    #expect(rest.output.split(separator: "\n").count == 20)
    #expect(try run("status", store).output == "{\"recorded\": 50, \"pending\": 50, \"dead\": 0}\n")
  }

  @Test func aBadLineIsNamedAndTheOnesBeforeItAreKept() throws {
    let lines = try String(contentsOfFile: Self.comments, encoding: .utf8).split(separator: "\n").prefix(3)
    for (bad, words) in [("{oops", "not JSON"), ("{\"id\":\"x\"}", "\"post\""), ("[1]", "wrong type")] {
      let input = "\(directory.path)/in.jsonl"
      let path = "\(directory.path)/\(words)"
      try (lines.joined(separator: "\n") + "\n\n\(bad)\n").write(toFile: input, atomically: true, encoding: .utf8)
      let command = try run("record", path, input)
      #expect(command.status == 64 && command.errors.contains("\(input):5: ") && command.errors.contains(words))
      #expect(try run("status", path).output.contains("\"recorded\": 3"))
    }
  }

  @Test func badInputIsOneSentenceAndAnExitCode() throws {
    let file = "\(directory.path)/file"
    try Data().write(to: URL(fileURLWithPath: file))
    let garbage = "\(directory.path)/garbage"
    try FileManager.default.createDirectory(atPath: garbage, withIntermediateDirectories: false)
    try Data("not a database".utf8).write(to: URL(fileURLWithPath: "\(garbage)/data.mdb"))
    let cases: [[String]] = [
      ["record"], ["record", store], ["record", store, "\(directory.path)/none.jsonl"], ["nonsense", store],
      ["record", file, Self.comments], ["record", garbage, Self.comments], ["record", "/proc/none", Self.comments],
      ["replay", store, "not a url"], ["replay", store, "ftp://127.0.0.1/"],
      ["show", "\(directory.path)/none", "post:1"],
      ["record", store, Self.comments, "--limit", "x"], ["record", store, Self.comments, "--nonsense"],
    ]
    for arguments in cases {
      let command = try Command(Place.product("offline-comments"), arguments)
      #expect(command.status != 0 && command.status > 0 && command.output.isEmpty, "\(arguments)")
      #expect(command.errors.hasPrefix("offline-comments: "), "\(arguments): \(command.errors)")
      #expect(command.errors.split(separator: "\n").count == 1, "\(arguments): \(command.errors)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(garbage)/data.mdb")) == Data("not a database".utf8))
  }
}
