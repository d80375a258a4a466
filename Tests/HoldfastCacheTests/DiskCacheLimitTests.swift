import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Limits, recency and priority (S5, S6, S7, S32).
@Suite struct DiskCacheLimitTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  private func keys(_ cache: DiskCache, _ candidates: [String]) throws -> [String] {
    try candidates.filter { try cache.containsObject(forKey: $0) }
  }

  /// S6.
  @Test func theLeastRecentlyUsedLeaveFirstAndTheLimitIsHard() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(countLimit: 3)))
    for key in ["a", "b", "c", "d"] {
      try cache.setValue([1], forKey: key)
      #expect(try cache.totalCount() <= 3)
    }
    #expect(try keys(cache, ["a", "b", "c", "d"]) == ["b", "c", "d"])
    machine.advance(.seconds(120))
    _ = try cache.value(forKey: "b")
    try cache.setValue([1], forKey: "e")
    #expect(try keys(cache, ["b", "c", "d", "e"]) == ["b", "d", "e"], "what was read is newer, on disk too")
    try cache.verify()
  }

  /// S6: the cost is held whatever is done, and the entry just written is never the one that leaves.
  @Test func costsAreHeldByEveryWrite() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(costLimit: 1000)))
    for index in 0..<50 {
      #expect(try cache.setValue(pattern(10 + index * 4), forKey: "\(index)") == .stored)
      #expect(try cache.containsObject(forKey: "\(index)"))
      #expect(try cache.totalCost() <= 1000)
    }
    #expect(try cache.totalCost() == cache.totalBytes())
    // Older than all others, and written over: it stays where it is, and is not thrown out by its own growth.
    try cache.trim(toCount: 3)
    try cache.setValue(pattern(250), forKey: "47")
    #expect(try cache.containsObject(forKey: "47"))
    try cache.verify()
  }

  /// S6: an old value never stands in for a new one that does not fit.
  @Test func whatIsTooLargeIsRejectedAndLeavesNothingBehind() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(costLimit: 1000)))
    try cache.setValue([1], forKey: "a")
    #expect(try cache.setValue(pattern(251), forKey: "a") == .rejected)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.setValue(pattern(251), forKey: "a", options: .init(cost: 0)) == .stored)
    cache.limits = .init(countLimit: 0)
    #expect(try cache.setValue([1], forKey: "a") == .rejected)
    #expect(try cache.totalCount() == 0)
    try cache.verify()
  }

  /// S7.
  @Test func totalsGoBeyondFourGigabytes() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(costLimit: 9 << 32, entryCostLimit: .max)))
    for index in 0..<10 { try cache.setValue([1], forKey: "\(index)", options: .init(cost: 1 << 32)) }
    #expect(try cache.totalCost() == 9 << 32)
    #expect(try cache.totalCount() == 9)
    cache.limits = .none
    try cache.setValue([1], forKey: "x", options: .init(cost: 1 << 40))
    #expect(try cache.totalCost() == 9 << 32 + 1 << 40)
    try cache.verify()
  }

  /// S32.
  @Test func prioritiesDecideWhoLeaves() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(countLimit: 4)))
    try cache.setValue([1], forKey: "pinned", options: .init(priority: .pinned))
    try cache.setValue([1], forKey: "high", options: .init(priority: .high))
    try cache.setValue([1], forKey: "normal")
    try cache.setValue([1], forKey: "low", options: .init(priority: .low))
    try cache.setValue([1], forKey: "a")
    #expect(try keys(cache, ["pinned", "high", "normal", "low", "a"]) == ["pinned", "high", "normal", "a"])
    try cache.setValue([1], forKey: "b")
    #expect(try keys(cache, ["pinned", "high", "normal", "a", "b"]) == ["pinned", "high", "a", "b"])
    #expect(try cache.setValue([1], forKey: "pinned 2", options: .init(priority: .pinned)) == .stored)
    #expect(
      try cache.setValue([1], forKey: "pinned 3", options: .init(priority: .pinned)) == .rejected, "half is taken")
    #expect(try cache.setValue([2], forKey: "pinned 2", options: .init(priority: .pinned)) == .stored)
    try cache.setValue([1], forKey: "pinned", options: .init(expiration: .after(.seconds(5)), priority: .pinned))
    try cache.verify()
    #expect(try cache.trim(toCount: 0) > 0)
    #expect(try cache.totalCount() == 2, "pinned entries stay")
    machine.advance(.seconds(5))
    #expect(try cache.purgeExpired() == 1, "but they expire")
    try cache.verify()
  }

  /// S5: reads write nothing, and later writes take what was read into the order, a few each.
  @Test func readsOfManyEntriesReachTheDiskWithLaterWrites() throws {
    let cache = try DiskCache.open(path, machine)
    let all = (0..<100).map { "\($0)" }
    try cache.setValues(all.map { ($0, [1]) })
    machine.advance(.seconds(61))
    let before = try cache.environment.info().lastTransactionID
    for key in all where Int(key)! % 2 == 0 { _ = try cache.value(forKey: key) }
    #expect(try cache.environment.info().lastTransactionID == before, "no read has written")
    for index in 0..<4 { try cache.setValue([1], forKey: "new \(index)") }
    try cache.verify()
    #expect(try cache.trim(toCount: 54) == 50)
    #expect(try keys(cache, all) == all.filter { Int($0)! % 2 == 0 })
    try cache.verify()
  }

  /// S5: a hot entry is moved at most once a minute, however often it is read or written.
  @Test func whatIsFreshKeepsItsPlace() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    let first = try #require(try cache.info(forKey: "a"))
    machine.advance(.seconds(30))
    _ = try cache.value(forKey: "a")
    try cache.setValue([2], forKey: "a")
    try cache.flush()
    let second = try #require(try cache.info(forKey: "a"))
    #expect(first.lastUsedAt == second.lastUsedAt && first.writtenAt < second.writtenAt)
    machine.advance(.seconds(31))
    _ = try cache.value(forKey: "a")
    try cache.flush()
    #expect(try #require(try cache.info(forKey: "a")).lastUsedAt == first.lastUsedAt + 61_000)
    try cache.verify()
  }

  @Test func trimmingByCostAndLoweredLimits() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValues((0..<1000).map { ("\($0)", [1, 2]) })
    #expect(try cache.trim(toCost: 1000) == 500)
    cache.limits = .init(countLimit: 10)
    try cache.setValue([1], forKey: "x")
    #expect(try cache.totalCount() == 10)
    #expect(try cache.containsObject(forKey: "x"))
    #expect(try cache.trim(toCount: -1) == 10)
    try cache.verify()
  }

  @Test func importedEntriesKeepTheirAge() throws {
    let cache = try DiskCache.open(path, machine)
    for (key, time) in [("b", 2000), ("a", 1000), ("b2", 2000), ("c", 3000)] as [(String, Int64)] {
      var options = CacheEntryOptions()
      options.lastAccess = time
      try cache.setValue([1], forKey: key, options: options)
    }
    #expect(try cache.info(forKey: "c")?.lastUsedAt == 3000)
    try cache.trim(toCount: 2)
    #expect(try keys(cache, ["a", "b", "b2", "c"]) == ["b2", "c"])
    try cache.verify()
  }
}
