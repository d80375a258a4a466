import Testing

@testable import Holdfast

@Suite struct MemoryCacheExpiryTests {
  let time = ManualTime()

  @Test func s3AnExpiredEntryIsNeverReturned() {
    let cache = MemoryCache<String, Int>(time: time)
    cache["for ever"] = 0
    #expect(cache.setObject(1, forKey: "a", lifetime: .seconds(10)))
    time.advance(by: .milliseconds(9999))
    #expect(cache["a"] == 1 && cache.containsObject(forKey: "a"))
    time.advance(by: .milliseconds(1))
    #expect(!cache.containsObject(forKey: "a") && cache.totalCount == 2, "It is not gone before somebody asks.")
    #expect(cache["a"] == nil && cache.totalCount == 1 && cache.statistics.expirations == 1)
    #expect(cache["for ever"] == 0 && cache.check() == nil)
  }

  @Test func s3NoLifetimeRemoves() {
    let cache = MemoryCache<String, Int>(time: time)
    cache["a"] = 1
    #expect(!cache.setObject(2, forKey: "a", lifetime: .zero) && cache["a"] == nil)
    cache["a"] = 1
    #expect(!cache.setObject(2, forKey: "a", lifetime: .seconds(-5)) && cache.totalCount == 0)
    #expect(cache.setObject(3, forKey: "a", lifetime: .seconds(Int64.max / 2)) && cache["a"] == 3)
  }

  @Test func s3IdleEntriesExpire() {
    let cache = MemoryCache<String, Int>(time: time)
    cache.setObject(1, forKey: "idle", idleLimit: .seconds(10))
    cache.setObject(1, forKey: "both", lifetime: .seconds(15), idleLimit: .seconds(10))
    for _ in 0..<2 {
      time.advance(by: .seconds(6))
      #expect(cache["idle"] == 1 && cache["both"] == 1)
    }
    #expect(cache.containsObject(forKey: "idle"), "This is no use of it.")
    time.advance(by: .seconds(6))
    #expect(cache["idle"] == 1 && cache["both"] == nil)
    time.advance(by: .seconds(10))
    #expect(cache["idle"] == nil)
  }

  @Test func s3AClockThatIsSetBackExpiresNothing() {
    let cache = MemoryCache<String, Int>(time: time, ageLimit: .seconds(60))
    cache["a"] = 1
    time.advance(by: .seconds(-86_400))
    #expect(cache["a"] == 1)
    time.advance(by: .seconds(86_400 + 59))
    #expect(cache["a"] == 1)
  }

  @Test func s3AReplacementHasItsOwnTime() {
    let cache = MemoryCache<String, Int>(time: time)
    cache.setObject(1, forKey: "a", lifetime: .seconds(1))
    cache["a"] = 2
    time.advance(by: .seconds(5))
    #expect(cache["a"] == 2)
    // Others keep their times while entries move in the table.
    for key in 0..<500 { cache.setObject(key, forKey: "\(key)", lifetime: .seconds(key % 2 == 0 ? 10 : 1000)) }
    time.advance(by: .seconds(10))
    #expect(cache.removeExpiredObjects() == 250 && cache.totalCount == 251 && cache.check() == nil)
    for key in 0..<500 { #expect(cache["\(key)"] == (key % 2 == 0 ? nil : key)) }
  }

  @Test func theAgeLimitIsSinceTheLastUse() {
    let cache = MemoryCache<String, Int>(time: time)
    cache["a"] = 1
    cache["b"] = 1
    time.advance(by: .seconds(100))
    cache.ageLimit = .seconds(10)
    #expect(cache["a"] == 1, "Its time begins when times are kept.")
    time.advance(by: .seconds(9))
    #expect(cache["a"] == 1)
    time.advance(by: .seconds(9))
    #expect(cache["a"] == 1 && cache["b"] == nil)
    cache.ageLimit = .zero
    #expect(cache.totalCount == 0 && !cache.setObject(1, forKey: "a"))
    cache.ageLimit = nil
    #expect(cache.setObject(1, forKey: "a"))
  }

  @Test func trimsToAnAge() {
    let cache = MemoryCache<String, Int>(time: time)
    cache["a"] = 1
    #expect(cache.trim(toAge: .seconds(10)) == 0)
    time.advance(by: .seconds(8))
    cache["b"] = 1
    time.advance(by: .seconds(8))
    #expect(cache.trim(toAge: .seconds(10)) == 1 && cache["a"] == nil && cache["b"] == 1)
    #expect(cache.trim(toAge: .zero) == 1 && cache.totalCount == 0)
  }

  // MARK: S18: no wake-ups without need

  @Test func s18NothingSleepsIfNothingExpires() {
    let cache = MemoryCache<Int, Int>(time: time, countLimit: 10, costLimit: 1000)
    for key in 0..<100 { cache[key] = key }
    cache.setObject(1, forKey: 1, lifetime: .seconds(Int64.max / 2), idleLimit: nil)
    cache.removeAllObjects()
    cache[1] = 1
    #expect(cache.ledger.update { $0.purge == nil })
  }

  @Test func s18OneSleepUntilTheNextEnd() async {
    let cache = MemoryCache<Int, Int>(time: time)
    for key in 0..<50 { cache.setObject(key, forKey: key, lifetime: .seconds(60)) }
    for key in 50..<100 { cache.setObject(key, forKey: key, lifetime: .seconds(300)) }
    await time.waitForNap(1)
    #expect(time.naps == [.seconds(60)])
    time.advance(by: .seconds(60))
    await time.waitForNap(2)
    #expect(cache.totalCount == 50 && time.naps == [.seconds(60), .seconds(240)])
    cache.setObject(0, forKey: 0, lifetime: .milliseconds(1))
    await time.waitForNap(3)
    #expect(time.naps.last == .seconds(5), "Not more often than each autoTrimInterval.")
    time.advance(by: .seconds(5))
    await time.waitForNap(4)
    #expect(cache.totalCount == 50)
    time.advance(by: .seconds(1000))
    while cache.totalCount > 0 { await Task.yield() }
    #expect(cache.ledger.update { $0.purgeDue } == .max)
  }
}
