import Foundation
import Harness
import Holdfast
import Synchronization

/// The same as the memory half has to do, in the least that keeps it safe: a dictionary and a lock.
private final class LockedDictionary: Sendable {
  private let values = Mutex<[String: [UInt8]]>([:])

  func value(_ key: String) -> [UInt8]? { values.withLock { $0[key] } }
  func set(_ value: [UInt8], _ key: String) { values.withLock { $0[key] = value } }
}

/// YYCache's own workload: 200,000 keys with small values. Hits by one thread and by two, sets, sets that evict.
func memoryCacheWorkloads(_ bench: Bench) throws {
  let count = bench.choose(200_000, quick: 50_000)
  let names = (0..<count).map { "object:\(1_000_000 + $0)" }
  let cache = MemoryCache<String, [UInt8]>(costLimit: nil)
  let dictionary = LockedDictionary()
  for name in names {
    cache.setObject(valueOfItsOwn(name), forKey: name, cost: 1)
    dictionary.set(valueOfItsOwn(name), name)
  }
  var random = Random(seed: 60)
  let drawn = (0..<1 << 18).map { _ in names[random.below(count)] }
  try memoryHits(bench, cache, dictionary, drawn)
  try memorySets(bench, cache, dictionary, drawn)
}

/// A value that no other key has, as is usual in caches: the threads would wait for the reference count of one for all.
private func valueOfItsOwn(_ name: String) -> [UInt8] { Array(name.utf8.suffix(4)) }

private func memoryHits(
  _ bench: Bench, _ cache: MemoryCache<String, [UInt8]>, _ dictionary: LockedDictionary, _ drawn: [String]
) throws {
  let system = NSCache<NSString, NSArray>()
  for name in drawn { system.setObject([1], forKey: NSString(string: name)) }
  var workload = Workload.reading("memory hit, String key", .none, upTo: drawn.count)
  workload.comparesSums = false
  let mine = { (range: Range<Int>) -> UInt64 in
    range.reduce(0) { $0 &+ UInt64(cache.object(forKey: drawn[$1])?.count ?? 0) }
  }
  let plain = { (range: Range<Int>) -> UInt64 in
    range.reduce(0) { $0 &+ UInt64(dictionary.value(drawn[$1])?.count ?? 0) }
  }
  try bench.compare(
    workload,
    [
      Contender("Holdfast") { mine($0.range(in: drawn.count)) },
      Contender("Dictionary and Mutex", bar: 1 / 1.5) { plain($0.range(in: drawn.count)) },
      Contender("NSCache") { slice in
        slice.range(in: drawn.count).reduce(0) {
          $0 &+ UInt64(system.object(forKey: NSString(string: drawn[$1]))?.count ?? 0)
        }
      },
    ])
  let size = bench.choose(100_000, quick: 20_000)
  let hits = { @Sendable (thread: Int) -> UInt64 in
    (thread * size..<(thread + 1) * size).reduce(0) {
      $0 &+ UInt64(cache.object(forKey: drawn[$1 % drawn.count])?.count ?? 0)
    }
  }
  // What two threads gain that share nothing is the most that this machine can show.
  let own = (0..<2).map { _ in MemoryCache<String, [UInt8]>(costLimit: nil) }
  for cache in own {
    for name in drawn { cache.setObject(valueOfItsOwn(name), forKey: name, cost: 1) }
  }
  let ownHits = { @Sendable (thread: Int) -> UInt64 in
    (thread * size..<(thread + 1) * size).reduce(0) {
      $0 &+ UInt64(own[thread].object(forKey: drawn[$1 % drawn.count])?.count ?? 0)
    }
  }
  try bench.compare(
    Workload.waiting("memory hit, 2 threads", .none, operations: size).withThreads,
    [
      Contender("Holdfast", weight: 2) { _ in try onThreads(2) { hits($0) } },
      Contender("Holdfast, 1 thread", bar: 1.7) { _ in try onThreads(1) { hits($0) } },
      Contender("Holdfast, 2 threads with a cache each", weight: 2) { _ in try onThreads(2) { ownHits($0) } },
      Contender("Dictionary and Mutex, 2 threads", bar: 1.7, weight: 2) { _ in
        try onThreads(2) { thread in
          (thread * size..<(thread + 1) * size).reduce(0) {
            $0 &+ UInt64(dictionary.value(drawn[$1 % drawn.count])?.count ?? 0)
          }
        }
      },
    ])
}

private func memorySets(
  _ bench: Bench, _ cache: MemoryCache<String, [UInt8]>, _ dictionary: LockedDictionary, _ drawn: [String]
) throws {
  let value: [UInt8] = [5, 6, 7, 8]
  var replacing = Workload.reading("memory set, replacing", .none, upTo: drawn.count)
  replacing.comparesSums = false
  try bench.compare(
    replacing,
    [
      Contender("Holdfast") { slice in
        for index in slice.range(in: drawn.count) { cache.setObject(value, forKey: drawn[index], cost: 1) }
        return 0
      },
      Contender("Dictionary and Mutex", bar: 1 / 1.6) { slice in
        for index in slice.range(in: drawn.count) { dictionary.set(value, drawn[index]) }
        return 0
      },
    ])
  // Keys that were never there, in a cache that is full: each set evicts.
  let full = MemoryCache<String, [UInt8]>(countLimit: 10_000, costLimit: nil)
  let fresh = (0..<1 << 18).map { "fresh:\(1_000_000 + $0)" }
  for name in fresh.prefix(20_000) { full.setObject(value, forKey: name, cost: 1) }
  let grown = LockedDictionary()
  var evicting = Workload.reading("memory set, evicting", .none, upTo: fresh.count / 8)
  evicting.comparesSums = false
  try bench.compare(
    evicting,
    [
      Contender("Holdfast") { slice in
        for index in slice.range(in: fresh.count) { full.setObject(value, forKey: fresh[index], cost: 1) }
        return 0
      },
      Contender("Dictionary and Mutex, nothing evicted") { slice in
        for index in slice.range(in: fresh.count) { grown.set(value, fresh[index]) }
        return 0
      },
    ])
}
