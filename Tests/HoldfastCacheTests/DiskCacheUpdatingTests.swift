import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Changes that nobody else comes in between (S23).
@Suite struct DiskCacheUpdatingTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  @Test func s23OneOfManyTakes() async throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 3000))
    for size in [0, 100, 2000, 5000] {
      try cache.put("a", pattern(size))
      let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<4 { group.addTask { try await cache.takeValue(forKey: "a") == pattern(size) } }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(taken == 1)
      #expect(try cache.value(forKey: "a") == nil)
    }
    let commit = try cache.environment.lastTransactionID
    #expect(try await cache.takeValue(forKey: "a") == nil)
    #expect(try cache.environment.lastTransactionID == commit, "to take nothing is no write")
    try cache.verify()
  }

  @Test func s23ARemovalSeesWhatCameInBetween() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("a", [1])
    var seen: [[UInt8]?] = []
    try cache.updateValue(forKey: "a") { value in
      seen.append(value)
      if seen.count == 1 { try cache.put("a", [2]) }
      value = nil
    }
    #expect(seen == [[1], [2]])
    #expect(try cache.value(forKey: "a") == nil)
  }

  @Test func s23IncrementsAreExact() async throws {
    let cache = try DiskCache.open(path, machine)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for step in 1...4 {
        group.addTask { for _ in 0..<50 { try await cache.increment(forKey: "n", by: Int64(step)) } }
      }
      try await group.waitForAll()
    }
    #expect(try cache.object(forKey: "n", as: IntegerCodec()) == 500)
    #expect(try await cache.increment(forKey: "n", by: -501) == -1)
    try cache.verify()
  }

  @Test func s23ANumberKeepsItsTime() throws {
    let cache = try DiskCache.open(path, machine)
    let minute = CacheEntryOptions(expiration: .after(.seconds(60)))
    for expected in 1...3 {
      #expect(try cache.increment(forKey: "n", options: minute) == Int64(expected))
      machine.advance(.seconds(19))
    }
    machine.advance(.seconds(3))
    #expect(try cache.increment(forKey: "n", options: minute) == 1, "the time was over")
    #expect(try cache.info(forKey: "n")?.expiresAt == machine.system.time.now() + 60_000)
    try cache.verify()
  }

  @Test func s23WhatCannotBeCountedChangesNothing() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("text", [1, 2, 3])
    #expect(throws: StoreError.self) { try cache.increment(forKey: "text") }
    #expect(try cache.value(forKey: "text") == [1, 2, 3])
    try cache.increment(forKey: "n", by: .max)
    #expect(throws: StoreError.self) { try cache.increment(forKey: "n") }
    #expect(try cache.increment(forKey: "n", by: -1) == .max - 1)
    cache.limits = .init(countLimit: 0)
    #expect(throws: StoreError.self) { try cache.increment(forKey: "other") }
  }

  @Test func s23AReplacementOfWhatWasSeen() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("a", [1])
    let version = try #require(try cache.info(forKey: "a")).version
    #expect(try cache.replaceValue([2], forKey: "a", ifVersion: version) == .stored)
    #expect(try cache.replaceValue([3], forKey: "a", ifVersion: version) == .conflict)
    #expect(try cache.value(forKey: "a") == [2])
    #expect(try cache.replaceValue([3], forKey: "b", ifVersion: version) == .conflict)
  }

  @Test func s23ObjectsAreUpdatedWhateverIsThere() async throws {
    let cache = Cache(try DiskCache.open(path, machine), codec: JSONCodec<[Int]>())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for step in 0..<20 { try await cache.updateObject(forKey: "a") { $0 = ($0 ?? []) + [task * 20 + step] } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try cache.object(forKey: "a")?.sorted() == Array(0..<80))
    // Of another form, and damaged.
    try cache.diskCache.put("b", [7])
    try await cache.updateObject(forKey: "b") { value in
      #expect(value == nil)
      value = [1]
    }
    #expect(try cache.object(forKey: "b") == [1])
    try cache.diskCache.damage("b") { Array($0.dropLast()) + [0] }
    try await cache.updateObject(forKey: "b") { $0 = ($0 ?? []) + [2] }
    #expect(try cache.object(forKey: "b") == [2])
    #expect(try await cache.takeObject(forKey: "b") == [2])
    #expect(try cache.object(forKey: "b") == nil)
    #expect(cache.memoryCache.object(forKey: "b") == nil)
    #expect(try await cache.takeObject(forKey: "b") == nil)
    #expect(try await cache.addObject([3], forKey: "b") == .stored)
    #expect(try await cache.addObject([4], forKey: "b") == .conflict)
    #expect(try cache.object(forKey: "b") == [3])
    struct Failure: Error {}
    await #expect(throws: Failure.self) { try await cache.updateObject(forKey: "b") { _ in throw Failure() } }
    try await cache.updateObject(forKey: "b") { $0 = nil }
    #expect(try cache.object(forKey: "b") == nil)
    try cache.diskCache.verify()
  }

  @Test func s23ATimeOfExpiryMayChange() throws {
    let cache = try DiskCache.open(path, machine)
    let options = CacheEntryOptions(
      expiration: .after(.seconds(10)), cost: 7, tags: ["t"], priority: .high, extendedData: [9])
    try cache.put("a", pattern(5000), options)
    #expect(try cache.setExpiration(.after(.seconds(100)), forKey: "a"))
    machine.advance(.seconds(99))
    #expect(try cache.value(forKey: "a") == pattern(5000))
    let info = try #require(try cache.info(forKey: "a"))
    #expect(info.cost == 7 && info.tags == ["t"] && info.priority == .high && info.extendedData == [9])
    #expect(try cache.setExpiration(.never, forKey: "a"))
    machine.advance(.seconds(1000))
    #expect(try cache.value(forKey: "a") == pattern(5000))
    #expect(try cache.setExpiration(.after(.zero), forKey: "a") == false)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.setExpiration(.never, forKey: "a") == false)
    try cache.verify()
  }
}
