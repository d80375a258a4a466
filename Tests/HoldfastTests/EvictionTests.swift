import Synchronization
import Testing

@testable import Holdfast

/// The parts of eviction, each against a naive twin.
@Suite struct EvictionTests {
  @Test func anIndexFindsWhatIsIn() {
    var generator = SystemRandomNumberGenerator()
    var index = HashIndex()
    var twin: [Int: UInt64] = [:]
    for _ in 0..<2000 {
      let position = Int.random(in: 0..<300, using: &generator)
      if let hash = twin[position] {
        index.remove(position, hash: hash)
        twin[position] = nil
      } else {
        // Few different ones, so that runs are long.
        let hash = UInt64.random(in: 0..<40, using: &generator) << 32 | UInt64.random(in: 0..<40, using: &generator)
        index.insert(position, hash: hash)
        twin[position] = hash
      }
      let areFound = twin.allSatisfy { position, hash in index.position(of: hash) { $0 == position } == position }
      if !areFound || twin.count != index.count { Issue.record("\(index.count) entries, \(twin.count) expected") }
    }
  }

  @Test func aSketchCountsAtLeastAndForgets() {
    var sketch = FrequencySketch()
    for key in 0..<100 { for _ in 0..<key % 5 { sketch.add(scatter(key), keys: 100) } }
    for key in 0..<100 { #expect(sketch.estimate(scatter(key)) >= key % 5) }
    let exact = (0..<100).count { sketch.estimate(scatter($0)) == $0 % 5 }
    #expect(exact > 85)
    for _ in 0..<40 { sketch.add(scatter(7), keys: 100) }
    #expect(sketch.estimate(scatter(7)) == 15)
    // What is known survives the growth.
    sketch.add(scatter(8), keys: 1000)
    #expect(sketch.estimate(scatter(7)) == 15 && sketch.capacity == 1024)
    for key in 100..<10_100 { sketch.add(scatter(key), keys: 1000) }
    #expect(sketch.estimate(scatter(7)) <= 9)
  }

  @Test func ghostsAreTheLastOnes() {
    var ghosts = GhostTable()
    for key in 0..<1000 { ghosts.insert(scatter(key), limit: 100) }
    let young = (900..<1000).count { ghosts.remove(scatter($0), limit: 100) }
    let old = (0..<900).count { ghosts.remove(scatter($0), limit: 100) }
    #expect(young > 70 && old == 0)
    #expect((900..<1000).allSatisfy { !ghosts.remove(scatter($0), limit: 100) }, "Each comes back once.")
  }

  @Test(arguments: [EvictionPolicy.lru, .fifo]) func isThePolicyOfTheTextbook(_ policy: EvictionPolicy) {
    for limit in [1, 7, 100] {
      var evictor = Evictor(policy, limit: Amount(count: limit, cost: .max))
      var slots: [Int: Int32] = [:]
      var queue: [Int] = []
      for step in 0..<3000 {
        let key = Int(scatter(step) % 150)
        if let slot = slots[key] {
          evictor.use(slot, hash: scatter(key))
          if policy == .lru { queue.append(queue.remove(at: queue.firstIndex(of: key)!)) }
          continue
        }
        if queue.count == limit {
          let victim = queue.removeFirst()
          let slot = evictor.victim { _, _ in 0 }
          #expect(slot == slots[victim])
          evictor.evict(slots.removeValue(forKey: victim)!)
        }
        queue.append(key)
        slots[key] = evictor.insert(hash: scatter(key), cost: 1, isPinned: false)
      }
    }
  }

  // MARK: The adaptive policy, on the kinds of use that break single ones

  @Test func aLoopLongerThanTheCacheHits() {
    let loop = (0..<60_000).map { $0 % 1011 }
    #expect(hits(.lru, 500, loop) == 0)
    #expect(hits(.adaptive, 500, loop) > 27_000, "The optimum is 49 %.")
  }

  @Test func keysThatAreAskedForTwiceInARowHit() {
    // Each key twice, a little apart: only what is new is of use.
    let pairs = (0..<30_000).flatMap { [$0, max(0, $0 - 50)] }
    let most = hits(.lru, 200, pairs)
    #expect(most > 29_000 && hits(.adaptive, 200, pairs) > most * 97 / 100)
  }

  @Test func aScanDoesNotDisplaceWhatIsPopular() {
    var requests: [Int] = []
    for step in 0..<30_000 {
      requests.append(Int(min(scatter(step) % 400, scatter(step + 1_000_000) % 400)))
      if step % 2 == 0 { requests.append(1000 + step) }
    }
    #expect(hits(.adaptive, 200, requests) > hits(.lru, 200, requests) * 110 / 100)
  }

  @Test func theRuleFollowsTheUse() {
    var evictor = Evictor(.adaptive, limit: Amount(count: 100, cost: .max))
    #expect(evictor.rule == .twiceUsed && evictor.mask == 0)
    for step in 0..<20_000 { _ = evictor.insertForTest(scatter(step % 220)) }
    #expect(evictor.rule == .moreFrequent)
    evictor.setLimit(Amount(count: 100_000, cost: .max))
    #expect(evictor.rule == .moreFrequent || evictor.rule == .twiceUsed)
    #expect(evictor.mask.nonzeroBitCount == 9, "One in 512: at most 256 entries in a shadow.")
  }

  @Test func aCacheWithManyEntriesShrinksItsSample() {
    let cache = MemoryCache<Int, Int>(costLimit: 40_000)
    for key in 0..<60_000 { cache.setObject(key, forKey: key, cost: 1) }
    let mask = cache.ledger.update { $0.evictor.mask }
    #expect(mask.nonzeroBitCount >= 7 && cache.mask.load(ordering: .relaxed) == mask)
    cache.costLimit = 100
    #expect(cache.mask.load(ordering: .relaxed) == 0)
  }

  /// How many of the requests hit.
  private func hits(_ policy: EvictionPolicy, _ limit: Int, _ requests: [Int]) -> Int {
    let cache = MemoryCache<Int, Int>(countLimit: limit, policy: policy)
    for key in requests where cache[key] == nil { cache[key] = key }
    return cache.statistics.hits
  }
}

extension Evictor {
  /// Puts a key in as if it was never there.
  fileprivate mutating func insertForTest(_ hash: UInt64) -> Int32 {
    while !hasRoom(forCost: 1, replacing: -1), let slot = victim(takeUses: { _, _ in 0 }) { evict(slot) }
    return insert(hash: hash, cost: 1, isPinned: false)
  }
}

/// A number that looks random, the same in each run.
private func scatter(_ number: Int) -> UInt64 {
  var value = UInt64(bitPattern: Int64(number)) &+ 0x9E37_79B9_7F4A_7C15
  value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
  value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
  return value ^ (value >> 31)
}
