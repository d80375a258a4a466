import LMDB
import Testing

@testable import Holdfast

/// Lines, from any thread.
final class Log: Sendable {
  private let state = Monitor<[String]>([])
  var lines: [String] { state.update { $0 } }
  func add(_ line: String) { state.update { $0.append(line) } }
  func wait(for count: Int) { state.wait { $0.count >= count ? () : nil } }
}

/// S19: what happens when a value ends.
@Suite struct MemoryCacheReleaseTests {
  /// A value that uses the cache while it ends; it would wait for ever if a lock was held.
  final class Meddler: Sendable {
    let name: String
    let cache: MemoryCache<String, Meddler>
    let log: Log

    init(_ name: String, _ cache: MemoryCache<String, Meddler>, _ log: Log) {
      (self.name, self.cache, self.log) = (name, cache, log)
    }

    deinit {
      _ = cache.object(forKey: "other")
      _ = cache.totalCount
      cache.removeObject(forKey: "other")
      log.add(name)
    }
  }

  @Test func valuesEndOutsideLocks() {
    let time = ManualTime()
    let cache = MemoryCache<String, Meddler>(time: time, countLimit: 10)
    let log = Log()
    func add(_ name: String, _ key: String, _ lifetime: Duration? = nil) {
      cache.setObject(Meddler(name, cache, log), forKey: key, lifetime: lifetime)
    }
    add("replaced", "a")
    add("removed", "a")
    cache.removeObject(forKey: "a")
    #expect(log.lines == ["replaced", "removed"])
    add("cleared", "a")
    cache.removeAllObjects()
    add("trimmed", "a")
    cache.trim(toCount: 0)
    add("expired", "a", .seconds(1))
    time.advance(by: .seconds(2))
    #expect(cache["a"] == nil)
    add("purged", "a", .seconds(1))
    time.advance(by: .seconds(2))
    #expect(cache.removeExpiredObjects() == 1)
    #expect(log.lines.dropFirst(2) == ["cleared", "trimmed", "expired", "purged"])
    for number in 0..<20 { add("\(number)", "\(number)") }
    #expect(log.lines.count == 6 + 10)
    cache.countLimit = 5
    cache.handleMemoryPressure(.critical)
    #expect(log.lines.count == 6 + 20)
  }

  @Test(arguments: [ValueRelease.background, .mainActor]) func valuesEndElsewhere(_ release: ValueRelease) async {
    final class Value: Sendable {
      let log: Log
      init(_ log: Log) { self.log = log }
      deinit { log.add("ended") }
    }
    let cache = MemoryCache<Int, Value>(countLimit: 1, valueRelease: release)
    let log = Log()
    cache[1] = Value(log)
    cache[1] = Value(log)
    cache[2] = Value(log)
    cache.removeAllObjects()
    while log.lines.count < 3 { await Task.yield() }
  }

  @Test func aValueThatIsReplacedWhileItIsReadLives() async {
    // Reads race with replacements: a value that was handed out has to be alive.
    final class Value: Sendable {
      let numbers: [Int]
      init(_ number: Int) { numbers = [number, number] }
    }
    let cache = MemoryCache<Int, Value>(countLimit: 4)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for step in 0..<3000 {
            if task % 2 == 0 { cache[step % 6] = Value(step) }
            if let value = cache[step % 6] { #expect(value.numbers[0] == value.numbers[1]) }
          }
        }
      }
    }
    #expect(cache.check() == nil)
  }
}
