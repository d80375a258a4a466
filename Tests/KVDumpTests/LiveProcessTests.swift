import Foundation
import Holdfast
import LMDB
import TestSupport
import Testing

/// Every command that reads, beside another process that commits a thousand times a second to one file, and now and then to a store and a cache.
///
/// HOLDFAST_STRESS is how often each command is run, once without. The writer keeps its pace by the clock; nothing depends on
/// whether it can.
@Suite struct LiveProcessTests {
  private static let rounds = setting("HOLDFAST_STRESS", or: 1)
  private let folder = TemporaryDirectory()
  private var store: String { "\(folder.path)/store" }
  private var cache: String { "\(folder.path)/cache" }
  private var plain: String { "\(folder.path)/plain" }
  private static let keys = 30

  /// One commit to each of the three, in turn, until a file appears: all records of a commit have its number.
  private static func write(to folder: String) throws {
    let store = try Store.open(at: "\(folder)/store")
    let cache = try DiskCache.open(at: "\(folder)/cache", configuration: .init(inlineThreshold: 5000))
    let plain = try Environment.open(
      at: "\(folder)/plain", databases: ["x"], options: .init(durability: .unsafeNoSync))
    let x = try plain.database("x")
    let start = ContinuousClock.now
    var commits = 0
    while !FileManager.default.fileExists(atPath: "\(folder)/stop") {
      let value = Array("value \(commits)".utf8)
      switch commits % 20 {
      case 0:
        try store.write { t in
          for key in 0..<keys { try store.state.update(StateKey("n:\(key)"), ["n": .int(Int64(commits))], in: &t) }
          let id = try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: value), in: &t)
          if commits > 200 { try store.outbox.cancel(.entry(EntryID(rawValue: id.rawValue - 10)), in: &t) }
        }
      case 10:
        let large = [UInt8](repeating: UInt8(truncatingIfNeeded: commits), count: commits % 40 == 10 ? 9000 : 100)
        try cache.setValue(large, forKey: "key \(commits / 20 % 8)")
      default:
        try plain.write { t in
          for key in 0..<keys { try t.set(value.span, forKey: Array("key\(key)".utf8).span, in: x) }
        }
      }
      commits += 1
      if commits == 400 { _ = FileManager.default.createFile(atPath: "\(folder)/started", contents: nil) }
      let due = start + .microseconds(900 * commits)
      if commits > 400, due > .now { Thread.sleep(forTimeInterval: (due - .now) / .seconds(1)) }
    }
    let rate = Double(commits) / ((ContinuousClock.now - start) / .seconds(1))
    try Data("\(commits) commits, \(Int(rate)) a second".utf8).write(to: URL(fileURLWithPath: "\(folder)/rate"))
  }

  private func commands() -> [[String]] {
    [
      ["info", plain], ["ls", plain], ["cat", "--values", "-F", "raw0", plain, "x"], ["get", plain, "x", "key1"],
      ["dump", "-p", plain, "x"], ["dump", "--all", plain], ["export", plain], ["verify", plain], ["stats", plain],
      ["pages", plain], ["readers", plain], ["diff", plain, plain], ["copy", plain, "\(folder.path)/copy"],
      ["copy", "--compact", plain, "\(folder.path)/copy"], ["report", plain, "\(folder.path)/page.html"],
      ["watch", plain, "--commits", "2", "--interval", "0.01"], ["recover", plain, "-o", "\(folder.path)/copy"],
      ["verify", store], ["state", "list", store], ["state", "get", store, "n:1", "n:2"],
      ["state", "show", store, "n:1"],
      ["state", "stats", store], ["state", "verify", store], ["state", "tail", store], ["outbox", "list", store],
      ["outbox", "stats", store], ["outbox", "verify", store], ["outbox", "tail", store],
      ["copy", store, "\(folder.path)/copy"],
      ["verify", cache], ["cache", "list", cache], ["cache", "show", cache, "key 1"], ["cache", "stats", cache],
      ["cache", "verify", cache], ["cache", "tail", cache], ["copy", cache, "\(folder.path)/copy"],
    ]
  }

  /// The numbers in what a command shows of the one database; all are those of one commit.
  private func numbers(_ words: [String], _ output: String) throws -> Set<String> {
    switch words.prefix(2) {
    case ["cat", "--values"]: return Set(output.split(separator: "\0").map(String.init))
    case ["dump", "-p"], ["export", plain]:
      return Set(output.matches(of: #/value [0-9]+/#).map { String($0.output) })
    case ["copy", plain], ["copy", "--compact"]:
      let copy = try Tool.kvdump("cat", "--values", "-F", "raw0", "\(folder.path)/copy", "x")
      #expect(copy.status == 0 && copy.output.split(separator: "\0").count == Self.keys)
      return Set(copy.output.split(separator: "\0").map(String.init))
    case ["copy", store]:
      #expect(try Tool.kvdump("verify", "\(folder.path)/copy").status == 0)
      let copy = try Tool.kvdump("cat", "--values", "-F", "raw0", "\(folder.path)/copy", "state.record")
      return Set([copy.status == 0 ? "one" : "none"])
    case ["copy", cache]:
      let verify = try Tool.kvdump("cache", "verify", "\(folder.path)/copy")
      #expect(verify.status == 0, "\(verify.output)")
      return ["one"]
    default: return ["one"]
    }
  }

  private func listing() throws -> [[String]] {
    try [store, cache, plain].map { path in
      try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
  }

  @Test func everyReadIsOneCommitOrRefused() async throws {
    let hasEnded = Monitor(false)
    async let child: Void = {
      await #expect(processExitsWith: .success) { [path = folder.path as String] in try Self.write(to: path) }
      hasEnded.update { $0 = true }
    }()
    while !FileManager.default.fileExists(atPath: "\(folder.path)/started"), !hasEnded.update({ $0 }) {
      try? await Task.sleep(for: .milliseconds(20))
    }
    let result = Result { try readAll() }
    // Whatever came of it, or the writer would go on for ever.
    _ = FileManager.default.createFile(atPath: "\(folder.path)/stop", contents: nil)
    await child
    let list = try result.get().sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.accepted)+\($0.value.refused)" }
    print("writer: \(try Tool.text("\(folder.path)/rate")); accepted + refused: \(list.joined(separator: ", "))")
    // What was written meanwhile is sound.
    for path in [store, cache, plain] { #expect(try Tool.kvdump("verify", path).status == 0) }
    #expect(try Tool.kvdump("cache", "verify", cache).status == 0)
    #expect(try Tool.kvdump("outbox", "verify", store).status == 0)
  }

  /// Runs every command, and counts by its name how often it was accepted, and how often refused.
  private func readAll() throws -> [String: (accepted: Int, refused: Int)] {
    let before = try listing()
    var counts: [String: (accepted: Int, refused: Int)] = [:]
    for _ in 0..<Self.rounds {
      for words in commands() {
        for lock in [[], ["--lock"]] where lock.isEmpty || !["watch", "recover", "readers"].contains(words[0]) {
          for made in ["copy", "page.html"] { try? FileManager.default.removeItem(atPath: "\(folder.path)/\(made)") }
          let command = try Tool.kvdump(words + lock)
          // A copy of the pages that are being written is salvage, which says what it lacks.
          // And files are nothing that a place among the readers keeps.
          let isRefusable = lock.isEmpty || ["copy", cache] == words.prefix(2)
          let allowed: [Int32] = words[0] == "recover" ? [0, 1, 65, 75] : isRefusable ? [0, 75] : [0]
          let isDifferent = words[0] == "diff" && [1, 75].contains(command.status)
          #expect(
            allowed.contains(command.status) || isDifferent, "\(words + lock): \(command.status) \(command.errors)")
          if command.status == 75 { #expect(command.errors.split(separator: "\n").count == 1, "\(command.errors)") }
          if command.status == 0 { #expect(try numbers(words, command.output).count == 1, "\(words + lock)") }
          let name = words[0] + (lock.isEmpty ? "" : " --lock")
          counts[name, default: (0, 0)].accepted += command.status == 75 ? 0 : 1
          counts[name, default: (0, 0)].refused += command.status == 75 ? 1 : 0
        }
      }
    }
    #expect(try listing() == before)
    return counts
  }

  /// No command makes a lock file, not even with --lock.
  @Test func nobodyMakesALockFile() throws {
    for path in [store, cache, plain] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    do {
      let store = try Store.open(at: "\(folder.path)/s")
      try store.write { t in
        try store.state.update("n:1", ["n": 1], in: &t)
        try store.state.update("n:2", ["n": 1], in: &t)
      }
      let cache = try DiskCache.open(at: "\(folder.path)/c")
      try cache.setValue([1], forKey: "key 1")
      let plain = try Environment.open(at: "\(folder.path)/p", databases: ["x"])
      let x = try plain.database("x")
      try plain.write { t in try t.set([1], forKey: "key1", in: x) }
    }
    for (from, to) in [("s", store), ("c", cache), ("p", plain)] {
      try FileManager.default.copyItem(atPath: "\(folder.path)/\(from)/data.mdb", toPath: "\(to)/data.mdb")
    }
    for words in commands() where words[0] != "watch" {
      for lock in [[], ["--lock"]] where lock.isEmpty || !["recover", "readers"].contains(words[0]) {
        for made in ["copy", "page.html"] { try? FileManager.default.removeItem(atPath: "\(folder.path)/\(made)") }
        let command = try Tool.kvdump(words + lock)
        #expect(command.status == 0, "\(words + lock): \(command.status) \(command.errors)")
        #expect(try listing() == [["data.mdb"], ["data.mdb"], ["data.mdb"]], "\(words + lock)")
      }
    }
  }
}
