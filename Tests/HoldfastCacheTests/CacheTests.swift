import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Both halves together (S10, S14, S19).
@Suite struct CacheTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  private func open(_ configuration: DiskCache.Configuration = .init()) throws -> Cache<String> {
    Cache(try DiskCache.open(path, machine, configuration), codec: StringCodec())
  }

  @Test func valuesComeFromMemoryUntilTheDiskSaysOtherwise() throws {
    let cache = try open()
    #expect(try cache.object(forKey: "a") == nil)
    #expect(try cache.setObject("1", forKey: "a") == .stored)
    #expect(try cache.object(forKey: "a") == "1")
    #expect(cache.memoryCache.totalCount == 1)
    let reads = cache.diskCache.statistics
    #expect(try cache.object(forKey: "a") == "1")
    #expect(cache.diskCache.statistics == reads, "no value was read")
    // Behind its back, in every way.
    _ = try cache.diskCache.setObject("2", forKey: "a", as: StringCodec())
    #expect(try cache.object(forKey: "a") == "2")
    let other = try open()
    try other.setObject("3", forKey: "a")
    #expect(try cache.object(forKey: "a") == "3")
    try other.diskCache.removeObjects(withPrefix: "a")
    #expect(try cache.object(forKey: "a") == nil)
    try cache.setObject("4", forKey: "a")
    try other.removeAllObjects()
    #expect(try cache.object(forKey: "a") == nil)
    try cache.setObject("5", forKey: "a")
    try cache.diskCache.trim(toCount: 0)
    #expect(try cache.object(forKey: "a") == nil, "what was evicted is gone")
  }

  @Test func subscriptsReportInsteadOfThrowing() async throws {
    let cache = try open()
    cache["a"] = "1"
    #expect(cache["a"] == "1")
    cache["a"] = nil
    #expect(cache["a"] == nil)
    let events = cache.diskCache.events
    cache[String(repeating: "k", count: 70_000)] = "1"
    var iterator = events.makeAsyncIterator()
    guard case .accessFailed(_, let error) = await iterator.next() else {
      Issue.record("there was no event")
      return
    }
    #expect(error.code == .invalidKey)
  }

  @Test func theAsynchronousFormsDoTheSame() async throws {
    let cache = try open()
    try await cache.setObject("1", forKey: "a", options: .init(tags: ["t"]))
    #expect(try cache.object(forKey: "a") == "1")
    try await cache.setObject("2", forKey: "b")
    #expect(try await cache.removeObjects(taggedWith: "t") == 1)
    #expect(try cache.object(forKey: "a") == nil)
    #expect(try await cache.removeObject(forKey: "b"))
    try await cache.setObject("3", forKey: "ab")
    #expect(try await cache.removeObjects(withPrefix: "a") == 1)
    #expect(cache.memoryCache.totalCount == 0)
    try await cache.setObject("4", forKey: "c")
    try await cache.setObject(nil, forKey: "c")
    try await cache.removeAllObjects()
    #expect(try cache.diskCache.totalCount() == 0)
  }

  /// S11: a write is done when it says so, although nobody else holds the cache.
  @Test func aWriteOutlivesTheLastReference() async throws {
    var cache: Cache<String>? = try open()
    let write = Task { [cache] in try await cache?.setObject("1", forKey: "a") }
    cache = nil
    _ = try await write.value
    #expect(try open().object(forKey: "a") == "1")
  }

  /// S11: the asynchronous writes of one task happen in its order.
  @Test func asynchronousWritesKeepTheirOrder() async throws {
    let cache = try open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for key in 0..<8 {
        group.addTask { for step in 0..<25 { try await cache.setObject("\(step)", forKey: "\(key)") } }
      }
      try await group.waitForAll()
    }
    for key in 0..<8 { #expect(try cache.object(forKey: "\(key)") == "24") }
  }

  @Test func expiryAndAgeHoldInMemoryToo() throws {
    let cache = try open()
    try cache.setObject("1", forKey: "a", options: .init(expiration: .after(.seconds(10))))
    machine.advance(.milliseconds(9999))
    #expect(try cache.object(forKey: "a") == "1")
    machine.advance(.milliseconds(1))
    #expect(try cache.object(forKey: "a") == nil)
    cache.diskCache.limits = .init(ageLimit: .seconds(100))
    try cache.setObject("1", forKey: "b")
    for _ in 0..<4 {
      machine.advance(.seconds(60))
      #expect(try cache.object(forKey: "b") == "1")
    }
    machine.advance(.seconds(100))
    #expect(try cache.object(forKey: "b") == nil)
  }

  /// S5: what is hot in memory is not cold on disk.
  @Test func hitsInMemoryCountOnDisk() throws {
    let cache = try open()
    for key in ["hot", "a", "b", "c"] { try cache.setObject(key, forKey: key) }
    for _ in 0..<3 {
      machine.advance(.seconds(61))
      #expect(try cache.object(forKey: "hot") == "hot")
    }
    try cache.diskCache.trim(toCount: 1)
    #expect(try cache.object(forKey: "hot") == "hot")
    try cache.diskCache.verify()
  }

  @Test func whatIsRejectedIsInNeitherHalf() throws {
    let cache = try open(.init(limits: .init(costLimit: 40)))
    try cache.setObject("1", forKey: "a")
    #expect(try cache.setObject("12345678901", forKey: "a") == .rejected)
    #expect(try cache.object(forKey: "a") == nil)
    #expect(cache.memoryCache.totalCount == 0)
  }

  /// S13, S14.
  @Test func whatCannotBeEncodedOrDecodedChangesNothing() throws {
    struct Failure: Error {}
    struct Picky: CacheCodec {
      let id = CacheCodecID(1000)
      func encode(_ value: String) throws -> [UInt8] {
        if value == "bad" { throw Failure() }
        return Array(value.utf8)
      }
      func decode(_ bytes: [UInt8]) throws -> String {
        if bytes.count == 3 { throw Failure() }
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    let cache = Cache(try DiskCache.open(path, machine), codec: Picky())
    try cache.setObject("good", forKey: "a")
    #expect(throws: Failure.self) { try cache.setObject("bad", forKey: "a") }
    #expect(try cache.object(forKey: "a") == "good")
    try cache.setObject("odd", forKey: "b")
    cache.memoryCache.removeAllObjects()
    #expect(try cache.object(forKey: "b") == nil)
    try cache.setObject("good", forKey: "c")
    #expect(try cache.diskCache.totalCount() == 2)
  }

  /// S4: a codec may use the cache.
  @Test func aCodecMayUseTheCache() throws {
    struct Nested: CacheCodec {
      let disk: DiskCache
      let id = CacheCodecID(1001)
      func encode(_ value: String) throws -> [UInt8] {
        try disk.setValue(Array(value.utf8), forKey: "nested")
        return [1]
      }
      func decode(_ bytes: [UInt8]) throws -> String {
        try disk.setValue([2], forKey: "decoded")
        return String(decoding: try disk.value(forKey: "nested") ?? [], as: UTF8.self)
      }
    }
    let disk = try DiskCache.open(path, machine)
    let cache = Cache(disk, codec: Nested(disk: disk))
    try cache.setObject("x", forKey: "a")
    cache.memoryCache.removeAllObjects()
    #expect(try cache.object(forKey: "a") == "x")
  }

  /// S23.
  @Test func addingAndUpdating() async throws {
    let disk = try DiskCache.open(path, machine)
    func add(_ value: [UInt8]) throws -> CacheStoreResult { try disk.addValue(value, forKey: "a") }
    #expect(try add([1]) == .stored)
    #expect(try add([2]) == .conflict)
    #expect(try disk.value(forKey: "a") == [1])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            try await disk.updateValue(forKey: "count") { value in
              let count = (value ?? [0, 0]).reduce(0) { $0 << 8 | Int($1) } + 1
              value = [UInt8(count >> 8), UInt8(count & 255)]
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try disk.value(forKey: "count") == [0, 200])
    func drop() throws { try disk.updateValue(forKey: "count") { $0 = nil } }
    try drop()
    #expect(try disk.value(forKey: "count") == nil)
  }

  @Test func namesAreFolders() throws {
    for name in ["", ".", "..", "a/b"] {
      #expect(throws: StoreError.self) { try Cache(name: name, codec: StringCodec()) }
    }
  }
}
