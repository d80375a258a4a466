import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Damage, power loss and opening (S1, S2, S14).
@Suite struct DiskCacheDamageTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  /// S14: no byte of a record can change without its entry becoming a miss; nothing traps, and the totals stay true.
  @Test(arguments: [3, 5000, 8133]) func aFlippedByteIsAMissAndAnEvent(length: Int) async throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("other", [1])
    let options = CacheEntryOptions(expiration: .after(.seconds(1000)), tags: ["tag"], extendedData: [1, 2])
    try cache.put("a", pattern(length), options)
    let size = try cache.environment.read { t in
      try t.value(forKey: "a", in: cache.tables.entries)?.count ?? 0
    }
    let step = size > 200 ? 37 : 1
    for offset in Array(0..<130) + Array(stride(from: 130, to: size, by: step)) where offset < size {
      try cache.put("a", pattern(length), options)
      try cache.damage("a") { bytes in
        var bytes = bytes
        bytes[offset] ^= UInt8(1 << (offset % 8))
        return bytes
      }
      let value = try cache.value(forKey: "a")
      #expect(value == nil, "byte \(offset) was changed")
      try cache.put("other", [2])
      // With another time of expiry it may be over already, and leaves as what is expired does.
      if (24..<32).contains(offset) { continue }
      #expect(try cache.totalCount() == 1, "byte \(offset) was changed")
      #expect(try cache.totalBytes() == 1)
    }
    let events = cache.events
    try cache.put("a", pattern(length))
    try cache.damage("a") { Array($0.prefix(20)) }
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.value(forKey: "a") == nil)
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next() == .damagedEntry(key: "a"))
    try cache.put("a", pattern(length, 2))
    #expect(
      try cache.value(forKey: "a") == pattern(length, 2), "what is written anew is not removed for the old damage")
  }

  /// Zeros, as of a sector that never arrived: also where nothing was ever read before, no version is known as sound.
  @Test func zerosInTheHeaderAreAMiss() throws {
    let cache = try DiskCache.open(path, machine)
    for end in 9...(DiskCacheRecord.headerLength + 3) {
      try cache.put("a", [1, 2, 3])
      try cache.damage("a") { bytes in bytes.prefix(8) + [UInt8](repeating: 0, count: end - 8) + bytes.dropFirst(end) }
      #expect(try cache.value(forKey: "a") == nil, "up to byte \(end)")
    }
    try cache.put("a", [1, 2, 3])
    try cache.damage("a") { bytes in
      bytes.prefix(8) + [UInt8](repeating: 0, count: 8) + bytes.dropFirst(16).dropLast() + [4]
    }
    #expect(try cache.value(forKey: "a") == nil)
  }

  @Test func aLostTailIsAMiss() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue(pattern(4096), forKey: "a")
    try cache.environment.write { t in
      let key = try DiskCacheKey("a").tail
      #expect(try t.removeValue(forKey: key.span, in: cache.tables.entries))
    }
    #expect(try cache.value(forKey: "a") == nil)
    try cache.removeObject(forKey: "b")
    try cache.verify()
    #expect(try cache.totalCount() == 0)
  }

  /// The row after the value is not its tail only because it is the next.
  @Test func anotherKeyIsNoTail() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("a", pattern(4096))
    try cache.put("ab", [1, 2, 3])
    // From now on its checksum is not computed again.
    #expect(try cache.value(forKey: "a") == pattern(4096))
    let tail = try DiskCacheKey("a").tail
    let entries = cache.tables.entries
    try cache.environment.write { transaction in
      _ = try transaction.removeValue(forKey: tail.span, in: entries)
    }
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.value(forKey: "ab") == [1, 2, 3])
  }

  /// The mark stands from before the first write that is not flushed until after the flush that follows.
  @Test func aPowerCutSetsTheContentAside() async throws {
    var cache = try DiskCache.open(path, machine)
    try cache.put("a", [1])
    try cache.environment.close()
    machine.restart()
    cache = try DiskCache.open(path, machine)
    var iterator = cache.events.makeAsyncIterator()
    guard case .setAside(let place, let reason) = await iterator.next() else {
      Issue.record("there was no event")
      return
    }
    #expect(reason.contains("started anew"))
    #expect(FileSystem.exists("\(place)/data.mdb"))
    #expect(try cache.totalCount() == 0)
    try cache.put("a", [2])
    #expect(try cache.value(forKey: "a") == [2])
    // Once more: the older one makes room.
    try cache.environment.close()
    machine.restart()
    #expect(try DiskCache.open(path, machine).totalCount() == 0)
  }

  @Test func withoutAPowerCutNothingIsLost() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    try cache.environment.close()
    #expect(try DiskCache.open(path, machine).value(forKey: "a") == [1], "the process alone has ended")
  }

  @Test func aFlushIsWhatAPowerCutCannotTakeBack() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    try cache.close()
    machine.restart()
    #expect(try DiskCache.open(path, machine).value(forKey: "a") == [1])
  }

  /// One flush a moment after the first write; none, and no timer, while nothing is written.
  @Test func theBackgroundFlushComesByItself() async throws {
    let cache = try DiskCache.open(path, machine)
    let mark = try DiskCacheMark(in: path)
    #expect(try mark.isSet(), "the new file is not flushed")
    await machine.wake()
    while try mark.isSet() { await Task.yield() }
    let naps = machine.state.update { $0.naps }
    for index in 0..<10 { try cache.put("\(index)", [1]) }
    #expect(try mark.isSet())
    await machine.wake()
    while try mark.isSet() { await Task.yield() }
    _ = try cache.value(forKey: "1")
    #expect(machine.state.update { $0.naps } == naps + 1)
    #expect(machine.state.update { $0.sleepers.isEmpty }, "nobody waits for anything")
  }

  /// A write between flush and mark keeps the mark.
  @Test func aWriteDuringAFlushKeepsTheMark() throws {
    let cache = try DiskCache.open(path, machine)
    let mark = try DiskCacheMark(in: path)
    try cache.setValue([1], forKey: "a")
    let flushed = try cache.totals().last
    try cache.setValue([1], forKey: "b")
    #expect(try !cache.sync.clearMark(ifLast: flushed))
    #expect(try mark.isSet())
    #expect(try cache.sync.flush())
    #expect(try !mark.isSet())
    try cache.setValue([1], forKey: "c")
    #expect(try mark.isSet())
    #expect(try mark.bootID() == Array("boot-1".utf8))
  }

  @Test(arguments: [DiskCache.Configuration.Durability.relaxed, .full])
  func flushedCommitsNeedNoMark(durability: DiskCache.Configuration.Durability) throws {
    let cache = try DiskCache.open(path, machine, .init(durability: durability))
    try cache.setValue([1], forKey: "a")
    #expect(try !DiskCacheMark(in: path).isSet())
    try cache.environment.close()
    machine.restart()
    #expect(try DiskCache.open(path, machine, .init(durability: durability)).value(forKey: "a") == [1])
  }

  /// S1: structural damage is set aside or thrown; nothing is unlinked.
  @Test func aFileThatIsNoDatabase() throws {
    let garbage = Data(repeating: 7, count: 10_000)
    try garbage.write(to: URL(fileURLWithPath: "\(path)/data.mdb"))
    #expect(throws: StoreError.self) { try DiskCache.open(path, machine, .init(onDamage: .fail)) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb")) == garbage)
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/set-aside/data.mdb")) == garbage)
  }

  /// S1: a file that was cut off, wherever.
  @Test(arguments: [0, 100, 4096, 5000, 8192, 20_000]) func aFileThatWasCutOff(length: Int) async throws {
    do {
      let cache = try DiskCache.open(path, machine)
      for index in 0..<50 { try cache.put("\(index)", pattern(1000, index)) }
      try cache.close()
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb"))
    #expect(data.count > 20_000)
    try data.prefix(length).write(to: URL(fileURLWithPath: "\(path)/data.mdb"))
    #expect(throws: StoreError.self) { try DiskCache.open(path, machine, .init(onDamage: .fail)) }
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: "\(path)/data.mdb")) == data.prefix(length), "nothing was touched")
    let cache = try DiskCache.open(path, machine)
    var events = cache.events.makeAsyncIterator()
    guard case .setAside(let place, _) = await events.next() else {
      Issue.record("there was no event")
      return
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(place)/data.mdb")) == data.prefix(length))
    try cache.put("a", [1])
    #expect(try cache.value(forKey: "a") == [1] && cache.totalCount() == 1)
    try cache.verify()
  }

  /// S1: too few file descriptors, and a directory that may not be entered, lose nothing.
  @Test func whatTheSystemRefusesLosesNothing() async throws {
    try DiskCache.open(at: path).put("a", [1])
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Root may enter everything.
      if getuid() == 0 { guard chown(path, 65_534, 65_534) == 0, seteuid(65_534) == 0 else { exit(1) } }
      chmod(path, 0)
      #expect(throws: StoreError.self) { try DiskCache.open(at: path) }
      chmod(path, 0o700)
      if getuid() == 0 { seteuid(0) }
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let free = open("/", O_RDONLY)
      limit.rlim_cur = rlim_t(free + 2)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      #expect(throws: StoreError.self) { try DiskCache.open(at: path) }
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let value = try DiskCache.open(at: path).value(forKey: "a")
      #expect(value == [1])
    }
    #expect(!FileSystem.exists("\(path)/set-aside"))
  }

  /// S1: what the surroundings refuse is an error, and loses nothing.
  @Test func whatTheSurroundingsRefuseLosesNothing() throws {
    try DiskCache.open(path, machine).setValue([1], forKey: "a")
    #expect(throws: StoreError.self) { try DiskCache.open("\(path)/nowhere/cache", machine) }
    try Data([1]).write(to: URL(fileURLWithPath: "\(path)/file"))
    #expect(throws: StoreError.self) { try DiskCache.open("\(path)/file", machine) }
    #expect(throws: StoreError.self) { try DiskCache.open(path, machine, .init(inlineThreshold: -1)) }
    #expect(throws: StoreError.self) { try DiskCache.open(path, machine, .init(syncDelay: .zero)) }
    #expect(try DiskCache.open(path, machine).value(forKey: "a") == [1])
  }

  /// S2: however it is opened at once, it is one cache.
  @Test func openingFromManyThreadsAtOnce() async throws {
    let (path, machine) = (path, machine)
    try DiskCache.open(path, machine).put("a", [1])
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<8 {
        group.addTask {
          for _ in 0..<20 {
            let cache = try DiskCache.open(index % 2 == 0 ? path : "\(path)/.", machine)
            guard try cache.value(forKey: "a") == [1] else { return false }
          }
          return true
        }
      }
      for try await isThere in group { #expect(isThere) }
    }
  }
}
