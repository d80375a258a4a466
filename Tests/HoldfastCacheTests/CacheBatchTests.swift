import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Several keys at once, what is counted of loads, other forms of values, and what lies beside a value (S22, S27, S29).
@Suite struct CacheBatchTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  private func open() throws -> Cache<String> { Cache(try DiskCache.open(path, machine), codec: StringCodec()) }

  @Test func s22SeveralValuesThroughBothHalves() throws {
    let cache = try open()
    try cache.setObject("0", forKey: "a")
    try cache.setObjects([("a", "1"), ("b", "2"), ("c", "3"), ("c", "4")])
    #expect(try cache.object(forKey: "a") == "1", "memory has no older one")
    #expect(try cache.objects(forKeys: ["a", "b", "c", "d"]) == ["a": "1", "b": "2", "c": "4"])
    #expect(throws: StoreError.self) {
      try cache.setObjects([("a", "5"), (String(repeating: "k", count: 70_000), "5")])
    }
    #expect(try cache.object(forKey: "a") == "1")
    #expect(try cache.removeObjects(forKeys: ["a", "b", "x"]) == 2)
    #expect(try cache.objects(forKeys: ["a", "b", "c"]) == ["c": "4"])
    #expect(try cache.object(forKey: "a") == nil)
    try cache.diskCache.verify()
  }

  /// Also where a value is in a file, which whoever replaces it takes away.
  @Test func severalValuesAreOfOneMoment() throws {
    // The clock is asked between the looks at the rows and at the file.
    let interruption = Guarded<DiskCache?>(nil)
    var system = machine.system
    system.time = SystemTime(
      now: { [machine] in
        let cache = interruption.update { cache in
          defer { cache = nil }
          return cache
        }
        try? cache?.setValues([("file", pattern(30)), ("row", [2])])
        return machine.state.update { $0.now }
      }, sleep: { _ in })
    let cache = try DiskCache.open(at: path, configuration: .init(inlineThreshold: 10), system: system)
    try cache.setValues([("file", pattern(20)), ("row", [1])])
    try cache.put("timed", [1], .init(expiration: .after(.seconds(1))))
    interruption.update { $0 = cache }
    let found = try cache.values(forKeys: ["file", "row", "timed"])
    #expect(found == ["file": pattern(30), "row": [2], "timed": [1]])
  }

  /// 5.1: each of them does the same without blocking.
  @Test func theAsynchronousFormsDoTheSame() async throws {
    let cache = try open()
    let disk = cache.diskCache
    try await cache.setObjects([("a", "1"), ("b", "2"), ("ab", "3")])
    #expect(try await cache.addObject("9", forKey: "a") == .conflict)
    #expect(try await cache.addObject("4", forKey: "c", options: .init(tags: ["t"])) == .stored)
    #expect(try await cache.removeObjects(forKeys: ["b", "x"]) == 1)
    #expect(try await cache.removeObjects(withPrefix: "a") == 2)
    #expect(try await cache.removeObjects(taggedWith: "t") == 1)
    #expect(try disk.totalCount() == 0)
    #expect(try await cache.updateObject(forKey: "a") { $0 = ($0 ?? "") + "x" } == .stored)
    #expect(try await cache.takeObject(forKey: "a") == "x")
    #expect(try await disk.addValue([1], forKey: "v") == .stored)
    let version = try #require(try disk.info(forKey: "v")).version
    #expect(try await disk.replaceValue([2], forKey: "v", ifVersion: version) == .stored)
    #expect(try await disk.replaceValue([3], forKey: "v", ifVersion: version) == .conflict)
    #expect(try await disk.updateValue(forKey: "v") { $0?.append(3) } == .stored)
    #expect(try await disk.setExtendedData([7], forKey: "v"))
    #expect(try await disk.setExpiration(.after(.seconds(10)), forKey: "v"))
    #expect(try disk.info(forKey: "v")?.extendedData == [7])
    #expect(try await disk.takeValue(forKey: "v") == [2, 3])
    #expect(try await disk.increment(forKey: "n", by: 3) == 3)
    try await disk.setValues([("1", [1]), ("2", [2]), ("3", [3])], options: .init(expiration: .after(.seconds(5))))
    #expect(try await disk.removeObjects(forKeys: ["n", "none"]) == 1)
    #expect(try await disk.trim(toCount: 2) == 1)
    #expect(try await disk.trim(toCost: 1) == 1)
    machine.advance(.seconds(5))
    #expect(try await disk.purgeExpired() == 1)
    try await disk.setValues([("1", [1]), ("2", [2])])
    machine.advance(.seconds(5))
    #expect(try await disk.trim(toAge: .seconds(1)) == 2)
    #expect(try await disk.trim() == 0)
    try await disk.compact()
    try disk.verify()
  }

  struct Old: CacheCodec {
    let id = CacheCodecID(2000)
    func encode(_ value: Int) -> [UInt8] { Array("\(value)".utf8) }
    func decode(_ bytes: [UInt8]) throws -> Int { Int(bytes.count) }
  }

  struct New: CacheCodec {
    let id = CacheCodecID(2000, version: 1)
    func encode(_ value: String) -> [UInt8] { Array("new \(value)".utf8) }
    func decode(_ bytes: [UInt8]) throws -> String { String(decoding: bytes.dropFirst(4), as: UTF8.self) }
    func migrate(_ bytes: [UInt8], from id: CacheCodecID) throws -> String? {
      guard id == Old().id else { return nil }
      if bytes.isEmpty { throw StoreError(.corruptRecord, "There is nothing in it; make it anew.") }
      return "was " + String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test func s29AnOlderFormIsTakenOver() throws {
    let disk = try DiskCache.open(path, machine)
    let cache = Cache(disk, codec: New())
    for (key, value) in [("a", 12), ("b", 3)] { try disk.setObject(value, forKey: key, as: Old()) }
    #expect(try disk.object(forKey: "a", as: New()) == "was 12")
    #expect(try cache.object(forKey: "a") == "was 12")
    #expect(try cache.object(forKey: "a") == "was 12", "from memory")
    #expect(try cache.objects(forKeys: ["a", "b"]) == ["a": "was 12", "b": "was 3"])
    try cache.updateObject(forKey: "b") { $0? += "!" }
    #expect(try disk.object(forKey: "b", as: New()) == "was 3!")
    #expect(try disk.info(forKey: "b")?.codec == New().id)
    // What cannot be taken over is missing, and stays for those who can read it.
    _ = try disk.setValue([], forKey: "c", codec: Old().id, options: .init())
    try disk.setValue([1], forKey: "d")
    #expect(try cache.object(forKey: "c") == nil)
    #expect(try cache.object(forKey: "d") == nil)
    try disk.removeObject(forKey: "none")
    #expect(try disk.value(forKey: "c") == [] && disk.value(forKey: "d") == [1])
    try disk.verify()
  }

  /// 5.1: the extended data of YYCache.
  @Test func bytesBesideAValueMayChange() throws {
    let disk = try DiskCache.open(path, machine)
    let options = CacheEntryOptions(expiration: .after(.seconds(10)), tags: ["t"], priority: .high)
    try disk.setValue(pattern(5000), forKey: "a", options: options)
    machine.advance(.seconds(4))
    #expect(try disk.setExtendedData([1, 2], forKey: "a"))
    let info = try #require(try disk.info(forKey: "a"))
    #expect(info.extendedData == [1, 2] && info.tags == ["t"] && info.priority == .high)
    #expect(try disk.value(forKey: "a") == pattern(5000))
    #expect(throws: StoreError.self) {
      try disk.setExtendedData([UInt8](repeating: 1, count: 65_537), forKey: "a")
    }
    machine.advance(.seconds(6))
    #expect(try disk.value(forKey: "a") == nil, "it expires when it would have")
    #expect(try disk.setExtendedData([1], forKey: "a") == false)
    try disk.verify()
  }

  @Test func s27LoadsAreCounted() async throws {
    struct Failure: Error {}
    let cache = try open()
    let policy = CacheLoadPolicy(freshFor: .seconds(10), staleIfError: .seconds(100))
    let machine = machine
    #expect(
      try await cache.object(forKey: "a", policy: policy) {
        machine.advance(.seconds(2))
        return "1"
      } == "1")
    #expect(try await cache.object(forKey: "a", policy: policy) { "2" } == "1")
    machine.advance(.seconds(11))
    #expect(try await cache.object(forKey: "a", policy: policy) { throw Failure() } == "1")
    await #expect(throws: Failure.self) { try await cache.object(forKey: "b") { throw Failure() } }
    let value = try await cache.object(forKey: "c") { [disk = cache.diskCache] in
      try await disk.setValue([1], forKey: "c")
      return "3"
    }
    #expect(value == "3")
    let statistics = cache.statistics
    #expect(statistics.loads == 4 && statistics.failedLoads == 2 && statistics.loadTime == .seconds(2))
    #expect(statistics.staleHits == 1 && statistics.unstoredLoads == 1 && statistics.sharedLoads == 0)
    #expect(statistics.memory.hits == 2 && statistics.disk.stores == 2 && statistics.disk.writes > 2)
    #expect(statistics.disk.storedBytes == 2)
  }

  @Test func s27ReadsThatNoWriteHearsOfAreCounted() throws {
    let disk = try DiskCache.open(path, machine)
    try disk.setValues((0..<5000).map { ("\($0)", [1]) })
    machine.advance(.seconds(61))
    for key in 0..<5000 { _ = try disk.value(forKey: "\(key)") }
    #expect((2952..<5000).contains(disk.statistics.droppedReads), "there is room for 2,048")
  }
}
