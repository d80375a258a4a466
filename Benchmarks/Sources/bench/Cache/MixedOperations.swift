import Foundation
import Harness
import Holdfast
import Peers

/// The mix of python-diskcache's benchmark: 90 % reads, 9 % sets, 1 % removals, by one process and by eight at once.
func mixedOperations(_ bench: Bench, _ folder: WorkFolder) throws {
  let operations = bench.choose(5000, quick: 500)
  let rivals = try DiskRivals(in: folder, count: MixWorker.keyCount, [.yycache, .sqlite, .files])
  try rivals.fill(ValueBlock(64, width: MixWorker.width))
  try bench.compare(
    .waiting("mix 90/9/1, 1 process", .processCrashSafe, operations: operations),
    [Contender("Holdfast") { try MixWorker.run(rivals.cache, $0.round, operations) }]
      + rivals.peers.map { peer in
        Contender(peer.design.name) { try MixWorker.run(peer, $0.round, operations) }
      })
  // SQLite's designs fail with several processes unless they wait for each other's locks; files do not.
  let processes = 8
  try bench.compare(
    .waiting("mix 90/9/1, \(processes) processes", .processCrashSafe, operations: operations * processes),
    [("Holdfast", "holdfast"), ("a file each", "files")].map { name, kind in
      Contender(name) { slice in
        try MixWorker.runProcesses(processes, kind, try folder.path(of: kind), slice.round, operations)
        return 0
      }
    })
}

/// One process of the mix.
struct MixWorker {
  static let keyCount = 1100
  static let width = 100
  private var random: Random

  private init(seed: Int) { random = Random(seed: UInt64(seed)) }

  private enum Operation { case get, set, remove }

  private mutating func next() -> (Operation, Int) {
    let draw = random.below(100)
    return (draw < 90 ? .get : draw < 99 ? .set : .remove, random.below(Self.keyCount))
  }

  static func run(_ cache: DiskCache, _ seed: Int, _ operations: Int) throws -> UInt64 {
    var worker = MixWorker(seed: seed)
    let value = [UInt8](repeating: 7, count: Self.width)
    for _ in 0..<operations {
      let (operation, index) = worker.next()
      let name = "picture:\(10_000_000 + index)"
      switch operation {
      case .get: _ = try cache.value(forKey: name)
      case .set: try cache.setValue(value, forKey: name)
      case .remove: try cache.removeObject(forKey: name)
      }
    }
    return 0
  }

  static func run(_ peer: PeerBlobs, _ seed: Int, _ operations: Int) throws -> UInt64 {
    var worker = MixWorker(seed: seed)
    let values = ValueBlock(1, width: Self.width)
    let keys = KeyBlock(texts: (0..<Self.keyCount).map { "picture:\(10_000_000 + $0)" })
    for _ in 0..<operations {
      let (operation, index) = worker.next()
      switch operation {
      case .get: _ = try peer.get(keys, index..<index + 1)
      case .set: try peer.set(keys, index..<index + 1, values, from: 0)
      case .remove: try peer.remove(keys, index..<index + 1)
      }
    }
    return 0
  }

  /// Starts processes that do their part at once, and waits for all.
  static func runProcesses(_ count: Int, _ kind: String, _ path: String, _ seed: Int, _ operations: Int) throws {
    let processes = try (0..<count).map { number in
      let process = Process()
      process.executableURL = URL(filePath: CommandLine.arguments[0])
      process.arguments = ["mix-of", kind, path, "\(seed * count + number)", "\(operations)"]
      try process.run()
      return process
    }
    for process in processes {
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw UsageError("a process of the mix has failed") }
    }
  }

  /// What such a process does.
  static func work(_ arguments: [String]) throws {
    guard arguments.count == 4, let seed = Int(arguments[2]), let operations = Int(arguments[3]) else {
      throw UsageError("mix-of needs a kind, a folder, a seed and a number of operations")
    }
    if let design = PeerBlobs.Design(rawValue: arguments[0]) {
      _ = try run(PeerBlobs(design, at: arguments[1]), seed, operations)
    } else {
      _ = try run(DiskCache.open(at: arguments[1]), seed, operations)
    }
  }
}
