import Foundation
import Harness
import LMDB
import Peers

/// What each engine takes of the memory that nobody else can have: anonymous pages, each engine in a process of its own.
///
/// Pages of a mapped file are not counted: they are the system's cache, and go when somebody needs the room.
func memorySuite(_ bench: Bench) throws {
  let count = bench.choose(1_000_000, quick: 50_000)
  let engines: [Engine] = [.lmdb, .sqlite, .rocksdb, .leveldb, .kyoto]
  try bench.withFolder("memory") { folder in
    func measured(_ name: String) throws -> MemoryUse { try MemoryUse(of: name, count: count, in: folder) }
    let ours = try measured("holdfast")
    for engine in engines {
      let theirs = try measured(engine.rawValue)
      for (label, mine, other) in [
        ("200k reads", ours.afterReads, theirs.afterReads),
        ("then commits of 1,000", ours.afterWrites, theirs.afterWrites),
      ] {
        let page = 4096.0
        bench.add(
          "anonymous memory, \(count.named) records, \(label)", .processCrashSafe, peer: engine.name,
          ours: mine / 1024, theirs: other / 1024, unit: "KiB",
          ratio: Quartiles(exactly: max(other, page) / max(mine, page)))
      }
    }
    bench.add(
      "anonymous memory, \(count.named) records, 200k reads", .processCrashSafe, sample: [ours.afterReads / 1024],
      limit: 256, unit: "KiB")
  }
}

/// How many bytes of anonymous memory an engine has added to its process.
struct MemoryUse {
  var afterReads = 0.0
  var afterWrites = 0.0

  /// Measures in a process of its own, after another one has filled the store.
  init(of engine: String, count: Int, in folder: WorkFolder) throws {
    let path = try folder.path(of: engine)
    _ = try Self.output(["fill", engine, "\(count)", path])
    let figures = try Self.output(["read", engine, "\(count)", path]).split(separator: "\n").compactMap { Double($0) }
    guard figures.count == 2 else { throw UsageError("the process that measures \(engine) has failed") }
    (afterReads, afterWrites) = (figures[0], figures[1])
  }

  private static func output(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["memory-of"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw UsageError("\(arguments.joined(separator: " ")) has failed: \(output)")
    }
    return output
  }

  /// What these processes do; the second prints both figures.
  static func measure(_ arguments: [String]) throws {
    guard arguments.count == 4, let count = Int(arguments[2]) else {
      throw UsageError("memory-of needs fill or read, an engine, a count and a folder")
    }
    let (path, values) = (arguments[3], ValueBlock(count, width: 100))
    var random = Random(seed: 20)
    if arguments[0] == "fill" {
      let order = KeyBlock((0..<count).shuffled(using: &random))
      if let engine = Engine(rawValue: arguments[1]) {
        let peer = try Peer(engine, at: path, .processCrashSafe, records: count)
        try peer.put(order, 0..<count, values, from: 0, perCommit: 1000)
        try peer.settle()
      } else {
        let store = try HoldfastStore(at: path, .processCrashSafe)
        try store.put(order, 0..<count, values, from: 0, perCommit: 1000)
      }
      return
    }
    let (draws, writes) = (200_000, min(count, 100_000))
    let drawn = KeyBlock((0..<draws).map { _ in random.below(count) })
    let before = anonymousBytes()
    if let engine = Engine(rawValue: arguments[1]) {
      let peer = try Peer(engine, at: path, .processCrashSafe, records: count)
      _ = try Reader(peer).get(drawn, 0..<draws)
      print(anonymousBytes() - before)
      try peer.put(drawn, 0..<writes, values, from: 0, perCommit: 1000)
    } else {
      let store = try HoldfastStore(at: path, .processCrashSafe)
      _ = try store.get(drawn, 0..<draws)
      print(anonymousBytes() - before)
      try store.put(drawn, 0..<writes, values, from: 0, perCommit: 1000)
    }
    print(anonymousBytes() - before)
    // They must not make room before.
    withExtendedLifetime((drawn, values)) {}
  }

  private static func anonymousBytes() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
  }
}
