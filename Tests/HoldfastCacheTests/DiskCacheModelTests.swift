import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Random operations beside a twin that keeps everything in a dictionary; after each step the limits hold, and at times
/// everything is verified, also after opening anew.
@Suite struct DiskCacheModelTests {
  /// What the twin knows of an entry.
  struct Twin {
    var value: [UInt8]
    var expiresAt: Int64?
    var tags: [String]
  }

  @Test(arguments: 0..<4) func randomOperations(round: Int) throws {
    let directory = TemporaryDirectory()
    let machine = TestMachine()
    var randomness = Randomness()
    let seed = randomness.seed
    let isLimited = round % 2 == 1
    let configuration = DiskCache.Configuration(
      limits: isLimited ? .init(countLimit: 20, costLimit: 60_000) : .none, inlineThreshold: 9000)
    var cache = try DiskCache.open(directory.path, machine, configuration)
    var twins: [String: Twin] = [:]
    let keys = (0..<40).map { "\($0 % 7):\($0)" }

    func size() -> Int { [0, 3, 500, 3000, 4040, 4096, 5000, 8200, 12_000][randomness.below(9)] }

    for step in 0..<1000 {
      machine.advance(.seconds(Int64(randomness.below(40))))
      let now = machine.state.update { $0.now }
      let key = keys[randomness.below(keys.count)]
      let live = twins.filter { $0.value.expiresAt.map { $0 > now } ?? true }
      switch randomness.below(20) {
      case 0..<8:
        let value = pattern(size(), step)
        let ttl: Int? = randomness.below(3) == 0 ? randomness.below(300) : nil
        let tags = (0..<3).filter { _ in randomness.below(4) == 0 }.map { "tag \($0)" }
        let priority = CachePriority.allCases[randomness.below(3)]
        let options = CacheEntryOptions(
          expiration: ttl.map { .after(.seconds(Int64($0))) } ?? .never, tags: tags, priority: priority)
        let result = try cache.setValue(value, forKey: key, options: options)
        #expect(result == (ttl == 0 ? .expired : .stored), "seed \(seed), step \(step)")
        twins[key] =
          result == .stored ? Twin(value: value, expiresAt: ttl.map { now + Int64($0) * 1000 }, tags: tags) : nil
      case 8..<14:
        let value = try cache.value(forKey: key)
        if isLimited {
          #expect(value == nil || value == live[key]?.value, "seed \(seed), step \(step)")
        } else {
          #expect(value == live[key]?.value, "seed \(seed), step \(step)")
        }
      case 14:
        let isThere = try cache.removeObject(forKey: key)
        if !isLimited && twins[key]?.expiresAt == nil { #expect(isThere == (twins[key] != nil)) }
        twins[key] = nil
      case 15:
        let prefix = "\(randomness.below(7)):"
        try cache.removeObjects(withPrefix: prefix)
        twins = twins.filter { !$0.key.hasPrefix(prefix) }
      case 16:
        let tag = "tag \(randomness.below(3))"
        try cache.removeObjects(taggedWith: tag)
        twins = twins.filter { !$0.value.tags.contains(tag) }
      case 17:
        let several = (0..<4).map { (keys[randomness.below(keys.count)], pattern(size(), step + $0)) }
        try cache.setValues(several)
        for (key, value) in several { twins[key] = Twin(value: value, expiresAt: nil, tags: []) }
      case 18:
        if randomness.below(10) == 0 {
          try cache.removeAllObjects()
          twins = [:]
        } else {
          try cache.purgeExpired()
          twins = live
          if !isLimited { #expect(try cache.totalCount() == twins.count, "seed \(seed), step \(step)") }
        }
      default:
        if randomness.below(4) == 0 { try cache.close() } else { try cache.environment.close() }
        cache = try DiskCache.open(directory.path, machine, configuration)
      }
      if isLimited {
        #expect(try cache.totalCount() <= 20 && cache.totalCost() <= 60_000, "seed \(seed), step \(step)")
      }
      if step % 50 == 0 { try cache.verify() }
    }
    try cache.verify()
    #expect(try FileSystem.names(in: "\(directory.path)/files").count == cache.fileCount())
  }
}

extension DiskCache {
  func fileCount() throws -> Int { try environment.statistics(of: tables.files).entries }
}
