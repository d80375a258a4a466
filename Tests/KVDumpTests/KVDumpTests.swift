import Foundation
import Holdfast
import LMDB
import TestSupport
import Testing

@Suite struct KVDumpTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/store" }

  private func kvdump(_ arguments: String...) throws -> Command {
    try Command(Place.product("kvdump"), arguments)
  }

  private func fill() throws {
    let store = try Store.open(at: path)
    for index in 1...7 {
      try store.write { t in
        try store.state.update("post:1", ["n": .int(Int64(index)), "text": "a\u{1B}[31m\"b\"\n"], in: &t)
        try store.state.update("user:1", ["name": "Лин", "n": -1], in: &t)
        try store.outbox.enqueue(
          OutboxRequest(kind: "k\u{1B}[0m", lane: "post:\(index)", payload: [0, 1, 2]), in: &t)
      }
    }
  }

  @Test func showsAStore() throws {
    try fill()
    let info = try kvdump("info", path)
    #expect(info.status == 0 && info.output.contains("a Holdfast store") && info.errors.isEmpty)
    let list = try kvdump("ls", path)
    #expect(list.output.hasPrefix("DATABASE"))
    #expect(list.output.contains(#/outbox.entry +- +7 /#) && list.output.contains(#/state.record +- +2 /#))
  }

  @Test func listsTheOutbox() throws {
    try fill()
    let list = try kvdump("outbox", "list", path, "--limit", "5")
    let lines = list.output.split(separator: "\n")
    #expect(
      list.status == 0 && lines.count == 7
        && lines.last == "7 pending, 0 dead; at most 5 of each are shown, --limit says how many")
    #expect(lines[1].contains("waiting") && lines[1].contains("post:1") && lines[1].contains("k\\x1b[0m"))
    #expect(!list.output.contains("\u{1B}"))
  }

  @Test func mergesState() throws {
    try fill()
    let state = try kvdump("state", "get", path, "post:1", "user:1")
    #expect(state.output == #"{"n": -1, "name": "Лин", "text": "a\u001b[31m\"b\"\n"}"# + "\n")
    #expect(try kvdump("state", "get", path, "post:404").status == 1)
  }

  @Test func changesNothing() throws {
    try fill()
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb"))
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    for arguments in [["info", path], ["ls", path], ["outbox", "list", path], ["state", "get", path, "post:1"]] {
      #expect(try Command(Place.product("kvdump"), arguments).status == 0)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb")) == data)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == names)
  }

  @Test func readsAForeignEnvironment() throws {
    let environment = try Environment.open(at: path, databases: ["x"])
    let x = try environment.database("x")
    try environment.write { t in try t.set([1], forKey: "k", in: x) }
    let info = try kvdump("info", path)
    #expect(info.status == 0 && info.output.contains("not a Holdfast store"))
    #expect(try kvdump("outbox", "list", path).status == 66)
  }

  @Test func badInputIsOneSentenceAndAnExitCode() throws {
    let garbage = "\(directory.path)/garbage"
    try FileManager.default.createDirectory(atPath: garbage, withIntermediateDirectories: false)
    try Data("not a database".utf8).write(to: URL(fileURLWithPath: "\(garbage)/data.mdb"))
    let file = "\(directory.path)/file"
    try Data().write(to: URL(fileURLWithPath: file))
    let cases: [([String], Int32)] = [
      ([], 64), (["nonsense"], 64), (["info"], 64), (["info", garbage, "more"], 64), (["state", "get", garbage], 64),
      (["outbox", "show", garbage], 64), (["outbox", "list", garbage, "--limit", "x"], 64),
      (["info", "\(directory.path)/none"], 66), (["info", file], 69), (["info", garbage], 69),
    ]
    for (arguments, status) in cases {
      let command = try Command(Place.product("kvdump"), arguments)
      let lines = command.errors.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(command.status == status && command.output.isEmpty, "\(arguments)")
      #expect(lines.count == 2 && lines[0].hasPrefix("kvdump: "), "\(arguments): \(command.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: garbage) == ["data.mdb"])
  }

  @Test func aFullOutputIsNotASuccess() throws {
    try fill()
    let command = try Command("/bin/sh", ["-c", "\"$0\" ls \"$1\" > /dev/full", Place.product("kvdump"), path])
    #expect(command.status == 74 && command.errors.hasPrefix("kvdump: "))
  }
}
