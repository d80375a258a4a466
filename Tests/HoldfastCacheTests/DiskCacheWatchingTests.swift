import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// What is told of changes, and what is counted (S26, S27).
@Suite struct DiskCacheWatchingTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  /// The changes that have been told, without waiting for more.
  private func told(_ stream: AsyncStream<CacheChange>, _ count: Int) async -> [CacheChange] {
    var found: [CacheChange] = []
    var iterator = stream.makeAsyncIterator()
    while found.count < count, let change = await iterator.next() { found.append(change) }
    return found
  }

  private func clear(_ cache: DiskCache) throws { try cache.removeAllObjects() }

  @Test func s26EveryKindOfChangeIsTold() async throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("before", [0])
    let all = cache.changes()
    let one = cache.changes(ofKey: "e\u{301}")
    let some = cache.changes(withPrefix: "ab")
    try cache.put("e\u{301}", [1])
    try cache.put("\u{e9}", [1])
    try cache.put("abc", [1], .init(tags: ["t"]))
    try cache.put("abc", [2], .init(tags: ["t"]))
    try await cache.removeObjects(taggedWith: "t")
    try cache.drop("nothing")
    try cache.put("abd", [1], .init(expiration: .after(.seconds(1))))
    machine.advance(.seconds(1))
    try await cache.purgeExpired()
    try await cache.trim(toCount: 2)
    try cache.damage("e\u{301}") { Array($0.dropLast()) + [0] }
    #expect(try cache.value(forKey: "e\u{301}") == nil)
    try cache.put("x", [1])
    try clear(cache)
    #expect(
      await told(all, 11) == [
        .stored(key: "e\u{301}"), .stored(key: "\u{e9}"), .stored(key: "abc"), .stored(key: "abc"),
        .removed(key: "abc"), .stored(key: "abd"), .evicted(key: "abd", .expired), .evicted(key: "before", .count),
        .damaged(key: "e\u{301}"), .stored(key: "x"), .removedAll,
      ])
    let mine = await told(one, 3)
    #expect(mine == [.stored(key: "e\u{301}"), .damaged(key: "e\u{301}"), .removedAll])
    #expect(Array(mine[0].key?.utf8 ?? "".utf8) == Array("e\u{301}".utf8), "told by its bytes")
    #expect(await told(some, 6).last == .removedAll)
    try cache.verify()
  }

  @Test func s26AWriteThatFailsTellsNothing() async throws {
    struct Failure: Error {}
    let cache = try DiskCache.open(path, machine)
    let all = cache.changes()
    #expect(throws: Failure.self) {
      try cache.write { edit, transaction in
        let pending = try cache.pendingEntry([1], "a", .bytes, .init())
        _ = try pending.set(&edit, &transaction)
        throw Failure()
      }
    }
    try cache.put("b", [1])
    #expect(await told(all, 1) == [.stored(key: "b")])
    #expect(cache.statistics.stores == 1)
  }

  @Test func s26WhoDoesNotListenLosesTheOldest() async throws {
    let cache = try DiskCache.open(path, machine)
    let all = cache.changes()
    try await cache.setValues((0..<1030).map { ("\($0)", [1]) })
    #expect(await told(all, 1) == [.stored(key: "6")])
    #expect(cache.statistics.droppedEvents == 6)
    _ = consume all
  }

  @Test func s26NobodyWatchesNoMore() async throws {
    let cache = try DiskCache.open(path, machine)
    let task = Task { [changes = cache.changes()] in for await _ in changes {} }
    #expect(cache.changes.isHeard)
    task.cancel()
    await task.value
    #expect(!cache.changes.isHeard)
  }

  @Test func s27WhatHappensIsCounted() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(countLimit: 3, costLimit: 400)))
    for key in ["a", "b", "c", "d"] { try cache.put(key, [1], .init(expiration: .after(.seconds(10)))) }
    try cache.put("large", pattern(101))
    _ = try cache.value(forKey: "d")
    _ = try cache.value(forKey: "nothing")
    machine.advance(.seconds(10))
    try cache.purgeExpired()
    let statistics = cache.statistics
    #expect(statistics.hits == 1 && statistics.misses == 1)
    #expect(statistics.stores == 4 && statistics.rejections == 1)
    #expect(statistics.evictions == [.count: 1, .expired: 3])
  }
}

/// Orders in which keys are listed (S24).
@Suite struct DiskCacheOrderTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()

  @Test func s24KeysInEachOrder() throws {
    let cache = try DiskCache.open(directory.path, machine)
    let long = String(repeating: "k", count: 1000)
    try cache.put("pinned", pattern(50), .init(priority: .pinned))
    try cache.put("high", pattern(10), .init(priority: .high))
    for (index, key) in ["a", "b", long].enumerated() {
      machine.advance(.seconds(61))
      try cache.put(key, pattern(4096 * (index + 1)), .init(expiration: .after(.seconds(1000 - 300 * Int64(index)))))
    }
    machine.advance(.seconds(61))
    _ = try cache.value(forKey: "a")
    try cache.settleTouches()
    #expect(try cache.firstKeys(inOrderOf: .eviction, limit: 9) == ["b", long, "a", "high"])
    #expect(try cache.firstKeys(inOrderOf: .eviction, limit: 2) == ["b", long])
    #expect(try cache.firstKeys(inOrderOf: .expiry, limit: 9) == [long, "b", "a"])
    #expect(try cache.firstKeys(inOrderOf: .length, limit: 3) == [long, "b", "a"])
    #expect(try cache.firstKeys(inOrderOf: .length, limit: 0) == [])
    machine.advance(.seconds(400))
    #expect(try cache.firstKeys(inOrderOf: .expiry, limit: 9) == ["b", "a"])
    #expect(try cache.firstKeys(inOrderOf: .eviction, limit: 9) == ["b", "a", "high"])
    #expect(try cache.firstKeys(inOrderOf: .length, limit: 9) == ["b", "a", "pinned", "high"])
  }

  @Test func s24TheLongestOfMany() throws {
    let cache = try DiskCache.open(directory.path, machine)
    try cache.setValues((0..<3000).map { ("\($0)", [UInt8](repeating: 1, count: $0 * 7 % 3001)) })
    let longest = (0..<3000).sorted { $0 * 7 % 3001 > $1 * 7 % 3001 }.prefix(700).map { "\($0)" }
    #expect(try cache.firstKeys(inOrderOf: .length, limit: 700) == longest)
  }
}
