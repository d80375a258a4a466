import Testing

@testable import Holdfast

@Suite struct MemoryCacheTests {
  @Test func holdsWhatWasSet() {
    let cache = MemoryCache<String, Int>()
    #expect(cache.object(forKey: "a") == nil)
    #expect(cache.setObject(1, forKey: "a"))
    cache["b"] = 2
    #expect(cache["a"] == 1 && cache["b"] == 2 && cache.containsObject(forKey: "a"))
    cache["a"] = 3
    #expect(cache["a"] == 3 && cache.totalCount == 2)
    #expect(cache.removeObject(forKey: "a") && !cache.removeObject(forKey: "a"))
    #expect(!cache.containsObject(forKey: "a") && Set(cache.allKeys) == ["b"])
    cache["b"] = nil
    #expect(cache.totalCount == 0 && cache.totalCost == 0 && cache.check() == nil)
    #expect(cache.statistics == MemoryCacheStatistics(hits: 3, misses: 1, insertions: 2))
  }

  @Test func manyEntriesComeAndGo() {
    let cache = MemoryCache<Int, Int>(costLimit: nil)
    for key in 0..<20_000 { cache[key] = key }
    for key in 0..<20_000 where key % 3 == 0 { cache.removeObject(forKey: key) }
    #expect((0..<20_000).allSatisfy { cache[$0] == ($0 % 3 == 0 ? nil : $0) })
    #expect(cache.check() == nil)
    #expect(cache.removeObjects { $0 % 3 == 1 } == 6667)
    cache.removeAllObjects()
    #expect(cache.totalCount == 0 && cache[1] == nil && cache.check() == nil)
  }

  // MARK: S6, S7: limits

  @Test(arguments: EvictionPolicy.allCases) func s6TheLimitsHoldAfterEachSet(_ policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(countLimit: 50, costLimit: 1000, policy: policy)
    for step in 0..<2000 {
      #expect(cache.setObject(step, forKey: step % 173, cost: step % 101))
      #expect(cache[step % 173] == step, "The entry just written is not evicted.")
      #expect(cache.totalCount <= 50 && cache.totalCost <= 1000)
    }
    #expect(cache.check() == nil)
  }

  @Test func s6AReplacementMayBeLarger() {
    let cache = MemoryCache<Int, Int>(costLimit: 100)
    for key in 0..<10 { cache.setObject(key, forKey: key, cost: 10) }
    #expect(cache.setObject(-1, forKey: 3, cost: 25))
    #expect(cache[3] == -1 && cache.totalCost <= 100 && cache.totalCount == 8 && cache.check() == nil)
    #expect(cache.setObject(-2, forKey: 3, cost: 1) && cache.totalCost == 71)
  }

  @Test func s6WhatIsTooLargeTakesTheOldValueWithIt() {
    let cache = MemoryCache<Int, Int>(costLimit: 100)
    cache.setObject(1, forKey: 1, cost: 25)
    #expect(!cache.setObject(2, forKey: 1, cost: 26))
    #expect(cache[1] == nil && cache.totalCost == 0 && cache.statistics.rejections == 1)
    cache.entryCostLimit = 100
    #expect(cache.setObject(2, forKey: 1, cost: 100) && !cache.setObject(3, forKey: 2, cost: 101))
    #expect(cache[1] == 2)
  }

  @Test func s6ALowerLimitHoldsAtOnce() {
    let cache = MemoryCache<Int, Int>(costLimit: nil)
    for key in 0..<100 { cache.setObject(key, forKey: key, cost: 10, isPinned: key < 40) }
    cache.countLimit = 60
    #expect(cache.totalCount == 60 && cache[0] != nil)
    cache.costLimit = 100
    #expect(cache.totalCost == 100 && cache.check() == nil)
    cache.costLimit = nil
    cache.countLimit = 0
    #expect(cache.totalCount == 0 && !cache.setObject(1, forKey: 1))
  }

  @Test func s7SumsMayBeLarge() {
    let cache = MemoryCache<Int, Int>(costLimit: nil)
    for key in 0..<10 { #expect(cache.setObject(key, forKey: key, cost: 3 << 30)) }
    #expect(cache.totalCost == 30 << 30)
    #expect(cache.setObject(1, forKey: 10, cost: .max), "What does not fit into a number makes room.")
    #expect(cache.totalCount == 1 && cache.totalCost == .max)
  }

  @Test func s7NegativeNumbersTrap() async {
    await #expect(processExitsWith: .failure) { _ = MemoryCache<Int, Int>(countLimit: -1) }
    await #expect(processExitsWith: .failure) { MemoryCache<Int, Int>().setObject(1, forKey: 1, cost: -1) }
  }

  @Test func trims() {
    let cache = MemoryCache<Int, Int>(policy: .lru)
    for key in 0..<100 { cache.setObject(key, forKey: key, cost: 2) }
    #expect(cache[0] == 0)
    #expect(cache.trim(toCount: 60) == 40 && cache.totalCount == 60)
    #expect(cache[0] == 0 && cache[40] == nil && cache[41] == 41)
    #expect(cache.trim(toCost: 100) == 10 && cache.totalCost == 100)
    #expect(cache.trim(toCount: 0) == 50 && cache.check() == nil)
  }

  @Test func s19AValueThatKnowsItsCostIsAsked() {
    let cache = MemoryCache<String, [UInt8]>()
    cache.setObject([UInt8](repeating: 0, count: 1000), forKey: "a")
    #expect(cache.totalCost == 1000 + MemoryBudget.entryCost(String.self, [UInt8].self))
    cache["a"] = [1]
    #expect(cache.totalCost == 1 + MemoryBudget.entryCost(String.self, [UInt8].self))
    #expect(cache.costLimit == MemoryBudget.automatic && 0 < MemoryBudget.automatic)
    #expect(MemoryBudget.automatic <= 256_000_000)
  }

  // MARK: S15: keys

  @Test func s15KeysAreBytes() {
    let cache = MemoryCache<CacheKey, Int>()
    let keys: [CacheKey] = [
      "", "a", "a\0", "a\0b", "\u{E9}", "e\u{301}", CacheKey(String(repeating: "x", count: 10_000)),
    ]
    for (number, key) in keys.enumerated() { cache[key] = number }
    #expect(cache.totalCount == keys.count)
    for (number, key) in keys.enumerated() { #expect(cache[key] == number) }
  }

  @Test func s15EqualHashesAreToldApart() {
    struct Same: Hashable {
      let number: Int
      func hash(into hasher: inout Hasher) {}
    }
    let cache = MemoryCache<Same, Int>(countLimit: 40)
    for number in 0..<100 { cache[Same(number: number)] = number }
    for number in 0..<100 {
      let found = cache[Same(number: number)]
      #expect(found == nil || found == number)
    }
    #expect(cache.totalCount == 40 && cache.check() == nil)
  }

  // MARK: S32: pinned entries

  @Test func s32PinnedEntriesStay() {
    let cache = MemoryCache<Int, Int>(countLimit: 20, costLimit: nil)
    for key in 0..<10 { #expect(cache.setObject(key, forKey: key, isPinned: true)) }
    #expect(!cache.setObject(10, forKey: 10, isPinned: true), "Pinned ones may take half of the limit.")
    for key in 100..<200 { cache[key] = key }
    for key in 0..<10 { #expect(cache[key] == key) }
    #expect(cache.totalCount == 20)
    #expect(cache.setObject(-1, forKey: 0, isPinned: true) && cache.setObject(0, forKey: 0))
    #expect(cache.trim(toCount: 0) == 11 && cache.totalCount == 9 && cache.check() == nil)
  }

  // MARK: S18: memory pressure

  @Test func s18MemoryPressureShrinksTheCache() {
    let cache = MemoryCache<Int, Int>()
    for key in 0..<1000 { cache.setObject(key, forKey: key, cost: 1) }
    let seen = Log()
    cache.didReceiveMemoryPressure = { [unowned cache] level in
      seen.add("\(level) \(cache.totalCount)")
    }
    cache.handleMemoryPressure(.warning)
    #expect(cache.totalCount == 500)
    cache.handleMemoryPressure(.background)
    #expect(cache.totalCount == 50 && cache.check() == nil)
    cache.memoryPressureResponse.keptOnWarning = 1
    cache.handleMemoryPressure(.warning)
    #expect(cache.totalCount == 50)
    cache.handleMemoryPressure(.critical)
    #expect(cache.totalCount == 0)
    #expect(seen.lines == ["warning 1000", "background 500", "warning 50", "critical 50"])
  }
}
