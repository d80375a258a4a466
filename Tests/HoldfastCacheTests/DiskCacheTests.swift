import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Keys, values and their places (S13, S15, S16, S22, S25, S29).
@Suite struct DiskCacheTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  @Test func whatIsSetIsThereUntilItIsRemoved() throws {
    let cache = try DiskCache.open(path, machine)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.setValue([1, 2, 3], forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == [1, 2, 3])
    #expect(try cache.containsObject(forKey: "a"))
    try cache.setValue([4], forKey: "a")
    let sum = try cache.withValue(forKey: "a") { value in Int(value[0]) + value.count }
    #expect(sum == 5)
    #expect(try cache.removeObject(forKey: "a"))
    #expect(try !cache.removeObject(forKey: "a"))
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.totalCount() == 0)
    #expect(cache.statistics.hits == 2)
    try cache.verify()
  }

  @Test func theAsynchronousFormsDoTheSame() async throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 100))
    #expect(try await cache.setValue([1], forKey: "a") == .stored)
    #expect(try await cache.setValue(pattern(200), forKey: "b") == .stored)
    #expect(try cache.value(forKey: "b") == pattern(200))
    #expect(try await cache.removeObject(forKey: "a"))
    try await cache.removeAllObjects()
    #expect(try cache.totalCount() == 0)
    try cache.verify()
  }

  /// S15.
  @Test func everyTextIsAKeyOfItsOwn() throws {
    let cache = try DiskCache.open(path, machine)
    let long = String(repeating: "k", count: 10_000)
    let keys = [
      "", "\0", "\u{1}", "a", "a\0", "a\0\0", "a\u{1}", "a\0\u{1}", "a\0b", "é", "e\u{301}", String(long.prefix(399)),
      String(long.prefix(400)), String(long.prefix(401)), String(long.prefix(402)), long, long + "l",
      String(long.prefix(400)) + "\0",
    ]
    for (index, key) in keys.enumerated() { try cache.setValue(pattern(4096 + index, index), forKey: key) }
    #expect(try cache.totalCount() == keys.count)
    for (index, key) in keys.enumerated() { #expect(try cache.value(forKey: key) == pattern(4096 + index, index)) }
    try cache.verify()
    #expect(try cache.values(forKeys: keys).count == keys.count - 1, "a Dictionary takes é and e+acute for one")
    for (index, key) in keys.enumerated() {
      #expect(try cache.removeObject(forKey: key))
      #expect(try cache.totalCount() == keys.count - index - 1)
    }
    try cache.verify()
    #expect(throws: StoreError.self) { try cache.setValue([], forKey: String(repeating: "k", count: 65_536)) }
  }

  /// S15: another key with the same hash is not taken for this one.
  @Test func aCollisionOfLongKeysIsAMiss() throws {
    let cache = try DiskCache.open(path, machine)
    let key = String(repeating: "k", count: 500)
    try cache.setValue([1], forKey: key)
    try cache.damage(key) { bytes in
      var bytes = bytes
      bytes[DiskCacheRecord.headerLength + 4 + 499] = UInt8(ascii: "x")
      return bytes
    }
    #expect(try cache.value(forKey: key) == nil)
  }

  @Test func valuesOfEverySizeComeBack() throws {
    let cache = try DiskCache.open(path, machine)
    var sizes = Array(0...40) + [1900, 2038, 2039, 2040, 100_000, 1 << 20]
    for pages in 1...17 { for offset in -90...10 { sizes.append(pages * 4096 + offset) } }
    try cache.setValues(sizes.map { ("\($0)", pattern($0, $0)) })
    for size in sizes { #expect(try cache.value(forKey: "\(size)") == pattern(size, size)) }
    #expect(try cache.totalBytes() == sizes.reduce(0, +))
    try cache.verify()
    // The other way round: each takes the place of a value of another shape.
    for (size, other) in zip(sizes, sizes.reversed()) where size % 3 == 0 {
      try cache.setValue(pattern(other, other), forKey: "\(size)")
      #expect(try cache.value(forKey: "\(size)") == pattern(other, other))
    }
    try cache.verify()
  }

  /// S16.
  @Test func largeValuesAreInFiles() throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 10_000))
    try cache.setValue(pattern(3_000_000), forKey: "a", options: .init(tags: ["t"]))
    #expect(try cache.value(forKey: "a") == pattern(3_000_000))
    #expect(try FileSystem.names(in: "\(path)/files").count == 1)
    #expect(try cache.info(forKey: "a")?.isFile == true)
    try cache.setValue(pattern(20_000, 1), forKey: "a")
    #expect(try cache.value(forKey: "a") == pattern(20_000, 1))
    #expect(try FileSystem.names(in: "\(path)/files").count == 1, "the old file is gone")
    try cache.verify()
    try cache.setValue([1], forKey: "a")
    #expect(try FileSystem.names(in: "\(path)/files").isEmpty)
    try cache.setValue(pattern(20_000, 2), forKey: "b")
    try cache.removeAllObjects()
    #expect(try FileSystem.names(in: "\(path)/files").isEmpty)
    try cache.verify()
  }

  @Test func aFileThatIsGoneOrChangedIsAMiss() throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 1000))
    for key in ["gone", "short", "changed"] { try cache.setValue(pattern(5000), forKey: key) }
    for (key, name) in zip(["gone", "short", "changed"], try FileSystem.names(in: "\(path)/files").sorted()) {
      let file = "\(path)/files/\(name)"
      switch key {
      case "gone": try FileSystem.removeFile(file)
      case "short": try Data(pattern(4999)).write(to: URL(fileURLWithPath: file))
      default: try Data(pattern(5000, 1)).write(to: URL(fileURLWithPath: file))
      }
    }
    for key in ["gone", "short", "changed"] { #expect(try cache.value(forKey: key) == nil) }
    try cache.setValue([1], forKey: "a")
    #expect(try cache.totalCount() == 1, "the next write removes them")
    try cache.verify()
  }

  /// S22.
  @Test func severalValuesAreSetTogetherOrNotAtAll() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValues([("a", [1]), ("b", [2]), ("a", [3])])
    #expect(try cache.values(forKeys: ["a", "b", "c"]) == ["a": [3], "b": [2]])
    #expect(throws: StoreError.self) {
      try cache.setValues([("c", [1]), (String(repeating: "k", count: 70_000), [2])])
    }
    #expect(try !cache.containsObject(forKey: "c"))
    #expect(try cache.removeObjects(forKeys: ["a", "b", "x"]) == 2)
    try cache.verify()
  }

  @Test func prefixesAreOfBytes() throws {
    let cache = try DiskCache.open(path, machine)
    let long = String(repeating: "k", count: 450)
    for key in ["", "a", "a:1", "a:2", "a:\0", "b", "\u{1}", long, long + "1", long + "2", "z\0"] {
      try cache.setValue(pattern(4090), forKey: key)
    }
    #expect(try cache.removeObjects(withPrefix: "a:") == 3)
    #expect(try cache.removeObjects(withPrefix: "\u{1}") == 1, "not the empty key")
    #expect(try cache.removeObjects(withPrefix: "z\0\u{1}") == 0)
    #expect(try cache.removeObjects(withPrefix: long + "1") == 1)
    #expect(try cache.removeObjects(withPrefix: "k") == 2)
    try cache.verify()
    #expect(try cache.removeObjects(withPrefix: "") == 4)
    #expect(try cache.totalCount() == 0)
    try cache.verify()
  }

  /// S21.
  @Test func tagsRemoveTogether() throws {
    let cache = try DiskCache.open(path, machine)
    for index in 0..<20 {
      try cache.setValue(
        [UInt8(index)], forKey: "\(index)", options: .init(tags: index % 2 == 0 ? ["even", "n"] : ["n"]))
    }
    try cache.setValue([9], forKey: "0")
    #expect(try cache.removeObjects(taggedWith: "e") == 0)
    #expect(try cache.removeObjects(taggedWith: "even") == 9, "what was written anew without it has it no more")
    #expect(try cache.totalCount() == 11)
    try cache.verify()
    #expect(try cache.removeObjects(taggedWith: "n") == 10)
    #expect(try cache.value(forKey: "0") == [9])
    try cache.verify()
  }

  /// S25.
  @Test func anEntryTellsAboutItself() throws {
    let cache = try DiskCache.open(path, machine)
    let options = CacheEntryOptions(
      expiration: .after(.seconds(60)), cost: 7, tags: ["x"], priority: .high, extendedData: [5, 6])
    try cache.setValue([1, 2], forKey: "a", options: options)
    let info = try #require(try cache.info(forKey: "a"))
    #expect(info.length == 2 && info.cost == 7 && info.tags == ["x"] && info.extendedData == [5, 6])
    #expect(info.priority == .high && info.codec == .bytes && !info.isFile)
    #expect(info.expiresAt == machine.state.update { $0.now } + 60_000)
    #expect(try cache.info(forKey: "b") == nil)
    #expect(throws: StoreError.self) { try cache.setValue([], forKey: "a", options: .init(cost: -1)) }
    #expect(throws: StoreError.self) { try cache.setValue([], forKey: "a", options: .init(tags: [""])) }
    #expect(try cache.info(forKey: "a") == info, "what cannot be stored changes nothing")
  }

  struct Point: Codable, Sendable, Equatable {
    var x: Int
  }

  /// S13, S14 and S29.
  @Test func codecsStoreAndMissWhatIsNotTheirs() throws {
    let cache = try DiskCache.open(path, machine)
    let json = JSONCodec<Point>()
    try cache.setObject(Point(x: 3), forKey: "p", as: json)
    #expect(try cache.object(forKey: "p", as: json) == Point(x: 3))
    #expect(try cache.object(forKey: "p", as: JSONCodec<Point>(version: 1)) == nil)
    #expect(try cache.object(forKey: "p", as: StringCodec()) == nil)
    try cache.setObject("text", forKey: "s", as: StringCodec())
    #expect(try cache.object(forKey: "s", as: StringCodec()) == "text")
    try cache.setObject(Data([1]), forKey: "d", as: DataCodec())
    #expect(try cache.object(forKey: "d", as: BytesCodec()) == [1])
    #expect(throws: EncodingError.self) { try cache.setObject(.infinity, forKey: "p", as: JSONCodec<Double>()) }
    #expect(try cache.object(forKey: "p", as: json) == Point(x: 3), "a value that cannot be encoded changes nothing")
    try cache.setObject(nil, forKey: "p", as: json)
    #expect(try cache.object(forKey: "p", as: json) == nil)
    // What cannot be decoded is a miss, and leaves with the next write.
    _ = try cache.setValue([0xFF], forKey: "s", codec: StringCodec().id, options: .init())
    #expect(try cache.object(forKey: "s", as: StringCodec()) == nil)
    try cache.removeObject(forKey: "x")
    #expect(try cache.totalCount() == 1)
  }

  @Test func aSecondOpeningIsTheSameCache() throws {
    let cache = try DiskCache.open(path, machine)
    #expect(try DiskCache.open("\(path)/./", machine) === cache)
    let link = directory.path + "-link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    defer { try? FileManager.default.removeItem(atPath: link) }
    #expect(try DiskCache.open(link, machine) === cache)
    let others: [(String, DiskCache.Configuration)] = [
      ("inlineThreshold", .init(inlineThreshold: 5)), ("limits", .init(limits: .init(countLimit: 1))),
      ("expiresAfter", .init(expiresAfter: .seconds(1))), ("syncDelay", .init(syncDelay: .seconds(2))),
      ("onDamage", .init(onDamage: .fail)), ("durability", .init(durability: .full)),
    ]
    for (field, other) in others {
      let error = #expect(throws: StoreError.self) { try DiskCache.open(path, machine, other) }
      #expect(error?.code == .alreadyOpen && error?.message.contains(field) == true)
    }
    try cache.setValue([1], forKey: "a")
    try cache.close()
    try cache.close()
    #expect(throws: StoreError.self) { try cache.value(forKey: "a") }
    #expect(try DiskCache.open(path, machine).value(forKey: "a") == [1])
  }

  /// S16: a file stays readable although its entry leaves; values without one are handed out in the same way.
  @Test func filesAreStreamedInAndOut() throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 10_000))
    let parts = [pattern(700_000, 1), pattern(1, 2), pattern(900_000, 3)]
    try cache.setFile(forKey: "film", options: .init(tags: ["media"])) { writer in
      for part in parts { try writer.write(part) }
    }
    try cache.setValue(pattern(100), forKey: "small")
    let whole = parts.flatMap { $0 }
    #expect(try cache.value(forKey: "film") == whole, "its checksum is that of the whole")
    let seen = try cache.withFile(forKey: "film") { file -> [Bool] in
      try cache.removeObjects(taggedWith: "media")
      return try [
        file.count == whole.count, file.read(5, at: 700_000) == Array(whole[700_000..<700_005]),
        file.read(10, at: whole.count - 3) == Array(whole.suffix(3)),
        Array(Data(contentsOf: URL(fileURLWithPath: file.path))) == whole,
      ]
    }
    #expect(seen == [true, true, true, true])
    let small = try cache.withFile(forKey: "small") { file in try file.read(1000, at: 0) }
    #expect(small == pattern(100))
    #expect(try cache.withFile(forKey: "film") { _ in 1 } == nil)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try cache.setFile(forKey: "film") { writer in
        try writer.write([1])
        throw Stop()
      }
    }
    #expect(try FileSystem.names(in: "\(path)/files").isEmpty)
    try cache.verify()
  }

  /// S24.
  @Test func keysComeInPages() throws {
    let cache = try DiskCache.open(path, machine)
    let long = String(repeating: "k", count: 450)
    let keys = ["", "a\0", "b:1", "b:2", "b:3", long + "1", long + "2", "z"]
    for key in keys { try cache.setValue(pattern(4090), forKey: key) }
    try cache.setValue([1], forKey: "gone", options: .init(expiration: .after(.seconds(1))))
    machine.advance(.seconds(1))
    var found: [String] = []
    var page = try cache.keys(limit: 3)
    while let last = page.last {
      found += page
      page = try cache.keys(after: last, limit: 3)
    }
    #expect(Set(found) == Set(keys) && found.count == keys.count)
    #expect(try cache.keys(withPrefix: "b:") == ["b:1", "b:2", "b:3"])
    #expect(try cache.keys(withPrefix: "b:", after: "b:2") == ["b:3"])
    #expect(Set(try cache.keys(withPrefix: long)) == [long + "1", long + "2"])
  }
}
