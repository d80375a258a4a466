import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Expiry and age (S3).
@Suite struct DiskCacheExpiryTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  @Test func everyReadHonoursTheTimeOfExpiry() throws {
    let cache = try DiskCache.open(path, machine, .init(expiresAfter: .seconds(10)))
    try cache.setValue([1], forKey: "standard")
    try cache.setValue([1], forKey: "never", options: .init(expiration: .never))
    try cache.setValue([1], forKey: "own", options: .init(expiration: .after(.milliseconds(5000))))
    try cache.setValue([1], forKey: "overflow", options: .init(expiration: .after(.seconds(Int64.max / 2))))
    machine.advance(.milliseconds(4999))
    #expect(try cache.containsObject(forKey: "own"))
    machine.advance(.milliseconds(1))
    #expect(try cache.value(forKey: "own") == nil)
    #expect(try !cache.containsObject(forKey: "own"))
    #expect(try cache.info(forKey: "own") == nil)
    #expect(try cache.values(forKeys: ["own", "standard"]) == ["standard": [1]])
    #expect(try cache.totalCount() == 4, "it is a miss now, and leaves later")
    machine.advance(.seconds(5))
    try cache.setValue([1], forKey: "x", options: .init(expiration: .never))
    #expect(try cache.totalCount() == 3, "a write takes the expired along")
    machine.advance(.seconds(1_000_000))
    #expect(try cache.value(forKey: "never") == [1])
    #expect(try cache.value(forKey: "overflow") == [1])
    try cache.verify()
  }

  @Test func whatHasNoTimeLeftIsNotStored() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    #expect(try cache.setValue([2], forKey: "a", options: .init(expiration: .after(.zero))) == .expired)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.totalCount() == 0)
    try cache.verify()
  }

  @Test func aNewTimeTakesThePlaceOfTheOld() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a", options: .init(expiration: .after(.seconds(5))))
    try cache.setValue([2], forKey: "a", options: .init(expiration: .after(.seconds(50))))
    machine.advance(.seconds(10))
    #expect(try cache.purgeExpired() == 0)
    #expect(try cache.value(forKey: "a") == [2])
    try cache.setValue([3], forKey: "a")
    machine.advance(.seconds(100))
    #expect(try cache.purgeExpired() == 0)
    #expect(try cache.value(forKey: "a") == [3])
    try cache.verify()
  }

  /// What YYCache calls age is the time since the last use.
  @Test func whatIsNotUsedGrowsOld() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(ageLimit: .seconds(80))))
    try cache.setValue([1], forKey: "used")
    try cache.setValue([1], forKey: "idle")
    for _ in 0..<5 {
      machine.advance(.seconds(40))
      #expect(try cache.value(forKey: "used") == [1], "pending reads count")
    }
    #expect(try cache.value(forKey: "idle") == nil)
    #expect(try cache.totalCount() == 2)
    try cache.flush()
    #expect(try cache.totalCount() == 1)
    machine.advance(.seconds(79))
    #expect(try cache.value(forKey: "used") == [1], "and so do those on disk")
    machine.advance(.seconds(80))
    #expect(try !cache.containsObject(forKey: "used"))
    cache.limits = .none
    #expect(try cache.containsObject(forKey: "used"), "nothing has removed it yet")
    try cache.verify()
  }

  /// A read that is noted gives the time of the read, not that of the write which brings it into the order.
  @Test func aWriteDoesNotMakeOldEntriesYoung() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(ageLimit: .seconds(300))))
    for key in ["a", "b", "c"] { try cache.setValue([1], forKey: key) }
    machine.advance(.seconds(200))
    for key in ["a", "b", "c"] { #expect(try cache.value(forKey: key) == [1]) }
    machine.advance(.seconds(290))
    try cache.setValue([2], forKey: "young")
    #expect(try cache.containsObject(forKey: "a"))
    machine.advance(.seconds(20))
    for key in ["a", "b", "c"] { #expect(try cache.value(forKey: key) == nil) }
    for _ in 0..<3 {
      try cache.setValue([3], forKey: "young")
      try cache.trim()
      for key in ["a", "b", "c"] { #expect(try !cache.containsObject(forKey: key)) }
    }
    #expect(try cache.totalCount() == 1)
    try cache.verify()
  }

  /// S3, S32: no path returns or keeps what has not been used for too long, and pinned entries grow old as others do.
  @Test(arguments: CachePriority.allCases) func everyPathKnowsTheAgeLimit(_ priority: CachePriority) throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(ageLimit: .seconds(80))))
    let options = CacheEntryOptions(expiration: .after(.seconds(10_000)), priority: priority)
    for key in ["used", "idle", "other"] { try cache.setValue([1], forKey: key, options: options) }
    for step in 0..<5 {
      machine.advance(.seconds(40))
      #expect(try cache.value(forKey: "used") == [1])
      // Notes of reads are taken to disk at different moments.
      if step > 1 { try cache.settleTouches() }
    }
    // Nothing is purged, so that each path has to know by itself.
    cache.limits = .none
    try cache.setValue([1], forKey: "idle", options: options)
    try cache.setValue([1], forKey: "other", options: options)
    machine.advance(.seconds(90))
    try cache.setValue([1], forKey: "young", options: options)
    cache.limits = .init(ageLimit: .seconds(80))
    #expect(try cache.value(forKey: "idle") == nil)
    #expect(try !cache.containsObject(forKey: "idle") && cache.info(forKey: "idle") == nil)
    #expect(try cache.values(forKeys: ["idle", "young"]).count == 1)
    #expect(try cache.keys() == ["young"])
    #expect(try cache.firstKeys(inOrderOf: .expiry, limit: 9) == ["young"])
    #expect(try cache.firstKeys(inOrderOf: .length, limit: 9) == ["young"])
    #expect(try cache.firstKeys(inOrderOf: .eviction, limit: 9) == (priority == .pinned ? [] : ["young"]))
    #expect(try cache.addValue([2], forKey: "idle", options: options) == .stored, "there is nothing to conflict with")
    try cache.updateValue(forKey: "other") { value in
      #expect(value == nil)
      value = [3]
    }
    #expect(try cache.value(forKey: "other") == [3])
    machine.advance(.seconds(100))
    #expect(try cache.purgeExpired() == 3)
    #expect(try cache.totalCount() == 0)
    try cache.verify()
  }

  @Test func trimmingToAnAge() throws {
    let cache = try DiskCache.open(path, machine)
    for index in 0..<600 {
      try cache.setValue([1], forKey: "\(index)")
      machine.advance(.seconds(1))
    }
    #expect(try cache.trim(toAge: .seconds(100)) == 500)
    #expect(try cache.trim(toAge: .zero) == 100)
    try cache.verify()
  }

  /// A clock that is set back makes nothing old and loses nothing; one that is set forward by mistake and back again
  /// keeps the order of use.
  @Test func aClockThatJumps() throws {
    let cache = try DiskCache.open(path, machine, .init(limits: .init(ageLimit: .seconds(3600))))
    try cache.setValue([1], forKey: "a", options: .init(expiration: .after(.seconds(100))))
    machine.advance(.seconds(-86_400))
    #expect(try cache.value(forKey: "a") == [1])
    try cache.setValue([1], forKey: "b")
    machine.advance(.seconds(2 * 86_400))
    #expect(try cache.value(forKey: "a") == nil)
    try cache.setValue([1], forKey: "c")
    machine.advance(.seconds(-86_400))
    try cache.setValue([1], forKey: "d")
    try cache.trim(toCount: 1)
    #expect(try cache.value(forKey: "d") == [1])
    try cache.verify()
  }
}
