import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// How often an entry was read (S25), without a write or a lock on the way.
@Suite struct DiskCacheHitsTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  private func hits(_ cache: DiskCache, _ key: String = "a") throws -> Int? { try cache.info(forKey: key)?.hits }

  @Test func s25HitsOfBothHalvesCount() throws {
    let disk = try DiskCache.open(path, machine, .init(inlineThreshold: 10_000))
    let cache = Cache(disk, codec: BytesCodec())
    try cache.setObject([1], forKey: "a")
    #expect(try hits(disk) == 0)
    for _ in 0..<3 { #expect(try cache.object(forKey: "a") == [1], "from memory") }
    #expect(try disk.value(forKey: "a") == [1])
    #expect(try disk.withValue(forKey: "a") { $0.count } == 1)
    #expect(try disk.values(forKeys: ["a", "b"]).count == 1)
    #expect(try disk.object(forKey: "a", as: BytesCodec()) == [1])
    #expect(try disk.withFile(forKey: "a") { $0.count } == 1)
    #expect(try hits(disk) == 8)
    // A look at the facts is no use of the value, and neither is a miss.
    #expect(try disk.containsObject(forKey: "a") && disk.keys() == ["a"])
    #expect(try disk.value(forKey: "b") == nil)
    #expect(try hits(disk) == 8)
    try disk.setValue(pattern(20_000), forKey: "file")
    #expect(try disk.value(forKey: "file") == pattern(20_000))
    #expect(try disk.withFile(forKey: "file") { $0.count } == 20_000)
    #expect(try hits(disk, "file") == 2)
    // What is written anew begins anew.
    try cache.setObject([2], forKey: "a")
    #expect(try hits(disk) == 0)
    try disk.removeObject(forKey: "a")
    #expect(try hits(disk) == nil)
  }

  /// They go to disk with the order of use, and what another opening has counted is added to them.
  @Test func s25HitsSurviveARestart() throws {
    var cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    for _ in 0..<5 { _ = try cache.value(forKey: "a") }
    let commit = try cache.environment.info().lastTransactionID
    machine.advance(.seconds(61))
    for _ in 0..<5 { _ = try cache.value(forKey: "a") }
    #expect(try cache.environment.info().lastTransactionID == commit, "no read has written")
    #expect(try hits(cache) == 10)
    try cache.setValue([1], forKey: "another")
    #expect(try hits(cache) == 10, "nothing is counted twice")
    _ = try cache.value(forKey: "a")
    #expect(try hits(cache) == 11)
    try cache.close()
    cache = try DiskCache.open(path, machine)
    #expect(try hits(cache) == 10, "the last one came within a minute after the others")
    machine.advance(.seconds(61))
    for _ in 0..<3 { _ = try cache.value(forKey: "a") }
    try cache.close()
    cache = try DiskCache.open(path, machine)
    #expect(try hits(cache) == 13)
    try cache.verify()
  }

  /// An entry that is written over keeps its place in the order, but not the hits of what was there before.
  @Test func s25HitsAreThoseOfOneVersion() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    machine.advance(.seconds(61))
    for _ in 0..<4 { _ = try cache.value(forKey: "a") }
    try cache.flush()
    machine.advance(.seconds(1))
    let place = try #require(try cache.info(forKey: "a")).lastUsedAt
    try cache.setValue([2], forKey: "a")
    #expect(try #require(try cache.info(forKey: "a")).lastUsedAt == place, "it has kept its place")
    #expect(try hits(cache) == 0)
    // A read of the old version that is noted, and reaches the order after the new one was written.
    machine.advance(.seconds(61))
    for _ in 0..<2 { _ = try cache.value(forKey: "a") }
    let reads = cache.touches.take(16)
    try cache.setValue([3], forKey: "a")
    try cache.write(after: reads) { _, _ in }
    #expect(try hits(cache) == 0)
    _ = try cache.value(forKey: "a")
    #expect(try hits(cache) == 1)
    try cache.verify()
  }

  /// Rows of earlier versions have the last use only.
  @Test func s25AShortRowTellsNoHits() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValue([1], forKey: "a")
    machine.advance(.seconds(61))
    _ = try cache.value(forKey: "a")
    try cache.flush()
    let used = try #require(try cache.info(forKey: "a")).lastUsedAt
    try cache.close()
    let other = try DiskCache.open(path, machine)
    try other.environment.write { transaction in
      let rows = try other.tables.rows(of: other.tables.touches, limit: 1, in: transaction.reader)
      for row in rows {
        let short = Array(row.value.prefix(8))
        try transaction.set(short.span, forKey: row.key.span, in: other.tables.touches)
      }
    }
    let info = try #require(try other.info(forKey: "a"))
    #expect(info.hits == 0 && info.lastUsedAt == used)
    machine.advance(.seconds(61))
    _ = try other.value(forKey: "a")
    try other.flush()
    #expect(try hits(other) == 1)
    try other.verify()
  }

  /// Whoever reads, and takes, at the same moment.
  @Test func s25EachHitCountsOnce() async throws {
    let hits = DiskCacheHits()
    let version: UInt64 = 1_700_000_000_000_000
    for _ in 0..<100 { hits.count(version) }
    #expect(hits.number(version) == 100 && hits.take(version) == 100)
    #expect(hits.number(version) == 0 && hits.take(version) == 0)
    hits.count(version)
    #expect(hits.number(version + 1) == 0 && hits.take(version + 1) == 0)
    #expect(hits.take(version) == 1)
    let taken = Monitor<UInt64>(0)
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for step in 0..<10_000 {
            hits.count(version)
            if step % 100 == 0 { taken.update { $0 += hits.take(version) } }
          }
        }
      }
    }
    let sum = taken.update { $0 } + hits.take(version)
    #expect(sum == 40_000)
    // Another entry takes the place, and this one takes it back.
    let table = AtomicTable(bits: 16)
    table.store(1, version)
    let rival = try #require((1...1_000_000).first { table.load(version + UInt64($0)) == 1 })
    for _ in 0..<5 { hits.count(version) }
    hits.count(version + UInt64(rival))
    #expect(hits.number(version) == 0)
    let before = hits.take(version)
    for _ in 0..<7 { hits.count(version) }
    #expect(before == 0 && hits.take(version) == 7)
  }

  /// A read is noted once, and again only after a while: the notes, not the reads, take a lock.
  @Test func s5AReadIsNotedOnceInAWhile() {
    let touches = DiskCacheTouches()
    func read(_ time: Int64) {
      touches.note(.init(version: 7, stamp: 7, priority: .normal, time: time), every: 30_000)
    }
    read(100_000)
    read(100_001)
    #expect(touches.take(16).map(\.time) == [100_000])
    read(129_999)
    #expect(touches.take(16).isEmpty)
    read(130_000)
    #expect(touches.time(of: 7) == 130_000)
    read(90_000)
    #expect(touches.time(of: 7) == 90_000, "the clock was set back")
  }
}
