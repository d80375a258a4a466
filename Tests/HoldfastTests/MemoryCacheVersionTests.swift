import Testing

@testable import Holdfast

/// S9, S10, S30: what was read elsewhere never takes the place of what is newer.
@Suite struct MemoryCacheVersionTests {
  let cache = MemoryCache<String, Int>()

  @Test func s10AValueReadBeforeAChangeIsRefused() throws {
    let before = try #require(cache.version(forKey: "a"))
    #expect(cache.setObject(1, forKey: "a", ifVersion: before) && cache["a"] == 1)
    #expect(cache.version(forKey: "a") == before, "What is read elsewhere is no change.")
    cache["a"] = 2
    #expect(!cache.setObject(1, forKey: "a", ifVersion: before) && cache["a"] == 2)
    let second = try #require(cache.version(forKey: "a"))
    cache.removeObject(forKey: "a")
    #expect(!cache.setObject(2, forKey: "a", ifVersion: second) && cache["a"] == nil)
    let third = try #require(cache.version(forKey: "a"))
    cache.removeObject(forKey: "a")
    #expect(!cache.setObject(2, forKey: "a", ifVersion: third), "To remove what is not here may be a change elsewhere.")
    let fourth = try #require(cache.version(forKey: "a"))
    cache.removeAllObjects()
    #expect(!cache.setObject(2, forKey: "a", ifVersion: fourth))
  }

  @Test func s10AnEvictionIsNoChange() throws {
    cache["a"] = 1
    let version = try #require(cache.version(forKey: "a"))
    cache.trim(toCount: 0)
    #expect(cache.setObject(1, forKey: "a", ifVersion: version) && cache["a"] == 1)
  }

  @Test func s30AChangeElsewhereKeepsReadersOut() throws {
    let before = try #require(cache.version(forKey: "a"))
    cache["b"] = 5
    let change = cache.beginChange(forKey: "a")
    #expect(cache.version(forKey: "a") == nil, "Nobody may read for the memory now.")
    #expect(!cache.setObject(1, forKey: "a", ifVersion: before))
    cache.endChange(change, forKey: "a", storing: 2, cost: 1)
    #expect(cache["a"] == 2 && cache["b"] == 5)
    #expect(!cache.setObject(1, forKey: "a", ifVersion: before))
    #expect(cache.version(forKey: "a") != nil)
  }

  @Test(arguments: [false, true]) func s30TwoChangesElsewhereLeaveNothing(_ firstEndsFirst: Bool) throws {
    let first = cache.beginChange(forKey: "a")
    let second = cache.beginChange(forKey: "a")
    // Which of both was last elsewhere is not known here.
    cache.endChange(firstEndsFirst ? first : second, forKey: "a", storing: 1, cost: 1)
    #expect(cache["a"] == nil && cache.version(forKey: "a") == nil)
    cache.endChange(firstEndsFirst ? second : first, forKey: "a", storing: 2, cost: 1)
    #expect(cache["a"] == nil)
    let version = try #require(cache.version(forKey: "a"))
    #expect(cache.setObject(3, forKey: "a", ifVersion: version))
  }

  @Test func s30ARemovalElsewhere() {
    cache["a"] = 1
    let change = cache.beginChange(forKey: "a")
    #expect(cache["a"] == 1, "It is there until it is gone there.")
    cache.endChange(change, forKey: "a", storing: nil)
    #expect(cache["a"] == nil)
  }

  @Test func s9AChangeOfAllElsewhere() throws {
    cache["a"] = 1
    cache["b"] = 2
    let before = try #require(cache.version(forKey: "c"))
    cache.beginChangeOfAll()
    #expect(cache.version(forKey: "c") == nil)
    let set = cache.beginChange(forKey: "a")
    cache.endChangeOfAll { $0 == "b" }
    cache.endChange(set, forKey: "a", storing: 7, cost: 1)
    #expect(cache["a"] == nil && cache["b"] == nil, "A change that overlaps is not trusted.")
    #expect(!cache.setObject(3, forKey: "c", ifVersion: before))
    cache["a"] = 1
    cache.beginChangeOfAll()
    cache.endChangeOfAll()
    #expect(cache.totalCount == 0 && cache.version(forKey: "a") != nil)
  }
}
