import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Several processes on one cache, and the end of one (S1, S2, S16, S30).
///
/// `HOLDFAST_CACHE_PROCESSES` and `HOLDFAST_CACHE_OPERATIONS` make it larger, such as 8 and 100000.
@Suite struct CacheProcessTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path }

  /// 90 % reads, 9 % sets, 1 % removals. Nobody sees a value of a writer that is older than one he has seen of it, no
  /// value is of another key, and the totals are right in the end.
  @Test func processesSeeEachOthersChanges() async throws {
    let operations = setting("HOLDFAST_CACHE_OPERATIONS", or: 3000)
    let processes = setting("HOLDFAST_CACHE_PROCESSES", or: 3)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for process in 0..<processes {
        group.addTask { [path] in
          await #expect(processExitsWith: .success) {
            [path = path as String, process = process as Int, operations = operations as Int] in
            do {
              exit(try Self.mix(path, process, operations) ? 0 : 1)
            } catch {
              print("process \(process): \(error)")
              exit(2)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let cache = try DiskCache.open(at: path, configuration: Self.configuration)
    try cache.verify()
    #expect(try cache.totalCount() <= 100)
  }

  private static let configuration = DiskCache.Configuration(limits: .init(countLimit: 100), inlineThreshold: 3000)

  private static func mix(_ path: String, _ process: Int, _ operations: Int) throws -> Bool {
    let cache = try Cache(at: path, codec: StringCodec(), configuration: configuration)
    var randomness = Randomness(seed: UInt64(process))
    // Key and writer → the highest step that was seen.
    var seen: [String: [Int: Int]] = [:]
    for step in 1...operations {
      let key = "\(randomness.below(64))"
      switch randomness.below(100) {
      case 0..<90:
        guard let value = try cache.object(forKey: key) else { continue }
        let parts = value.split(separator: " ").prefix(3).map(String.init)
        guard parts.count == 3, parts[0] == key, let writer = Int(parts[1]), let written = Int(parts[2]) else {
          print("\(key) has the value \(value.prefix(40))")
          return false
        }
        let before = seen[key]?[writer] ?? 0
        if written < before {
          print("\(key) went back from \(before) to \(written)")
          return false
        }
        seen[key, default: [:]][writer] = written
      case 90..<99:
        let filler = String(repeating: "x", count: randomness.below(10) == 0 ? 4000 : randomness.below(200))
        try cache.setObject("\(key) \(process) \(step) \(filler)", forKey: key)
        seen[key, default: [:]][process] = step
      default: try cache.removeObject(forKey: key)
      }
    }
    return true
  }

  /// What made YYCache wipe itself: many openings at once.
  @Test func anOpenStormLosesNothing() async throws {
    let configuration = DiskCache.Configuration()
    func fill() throws {
      let cache = try DiskCache.open(at: path, configuration: configuration)
      try cache.setValue([1, 2, 3], forKey: "precious")
      try cache.close()
    }
    try fill()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for process in 0..<3 {
        group.addTask { [path] in
          await #expect(processExitsWith: .success) { [path = path as String, process = process as Int] in
            for round in 0..<25 {
              let cache = try DiskCache.open(at: path)
              guard try cache.value(forKey: "precious") == [1, 2, 3] else { exit(1) }
              try Self.put(cache, "\(process) \(round)")
              // Under the others' feet, and under one's own.
              try cache.close()
            }
            exit(0)
          }
        }
      }
      try await group.waitForAll()
    }
    let cache = try DiskCache.open(at: path)
    #expect(try cache.totalCount() == 76)
    #expect(!FileSystem.exists("\(path)/set-aside"))
    try cache.verify()
  }

  private static func put(_ cache: DiskCache, _ key: String) throws { try cache.setValue([1], forKey: key) }

  /// A process that is killed loses nothing that it was told is stored, and tears nothing.
  @Test(arguments: [5, 40, 41, 63]) func aKilledProcessTearsNothing(step: Int) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
      let cache = try DiskCache.open(at: path, configuration: Self.configuration)
      for index in 0..<64 {
        if index == step {
          // In the middle of a write, with its file already there.
          let pending = try cache.pendingEntry(pattern(5000, 9), "1", .bytes, .init())
          try cache.write { edit, transaction in
            _ = try pending.set(&edit, &transaction)
            kill(getpid(), SIGKILL)
          }
        }
        try Self.set(cache, "\(index)", pattern(index % 2 == 0 ? 100 : 5000, index))
      }
    }
    let cache = try DiskCache.open(at: path, configuration: Self.configuration)
    for index in 0..<64 {
      let expected = index < step ? pattern(index % 2 == 0 ? 100 : 5000, index) : nil
      #expect(try cache.value(forKey: "\(index)") == expected)
    }
    cache.maintain()
    #expect(try FileSystem.names(in: "\(path)/files").count == step / 2, "no file is left over")
    try cache.verify()
  }

  private static func set(_ cache: DiskCache, _ key: String, _ value: [UInt8]) throws {
    try cache.setValue(value, forKey: key)
  }
}
