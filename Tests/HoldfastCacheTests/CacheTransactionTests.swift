import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Several entries as one (S23).
@Suite struct CacheTransactionTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  private struct Refused: Error {}

  @Test func allOrNothing() throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 3000))
    try cache.put("a", [1])
    try cache.put("large", pattern(5000))
    #expect(throws: Refused.self) {
      try cache.transaction { transaction in
        try transaction.setValue([2], forKey: "a")
        try transaction.setValue(pattern(9000), forKey: "b")
        try transaction.removeObject(forKey: "large")
        throw Refused()
      }
    }
    #expect(try cache.value(forKey: "a") == [1] && cache.value(forKey: "large") == pattern(5000))
    #expect(try cache.totalCount() == 2)
    let count = try cache.transaction { transaction in
      try transaction.setValue([2], forKey: "a")
      try transaction.setValue(pattern(9000), forKey: "b")
      try transaction.removeObject(forKey: "large")
      return 3
    }
    #expect(count == 3)
    #expect(try cache.value(forKey: "a") == [2] && cache.value(forKey: "large") == nil)
    #expect(try cache.value(forKey: "b") == pattern(9000))
    try cache.verify()
    let files = try FileManager.default.contentsOfDirectory(atPath: path + "/files")
    #expect(files.count == 1, "no file of a value that is not there: \(files)")
  }

  @Test func aTransactionSeesItsOwnChanges() throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 3000))
    try cache.put("a", [1])
    let commit = try cache.environment.lastTransactionID
    try cache.transaction { transaction in
      let (a, b) = (try transaction.value(forKey: "a"), try transaction.value(forKey: "b"))
      #expect(a == [1] && b == nil)
    }
    #expect(try cache.environment.lastTransactionID == commit, "to read is no write")
    try cache.transaction { transaction in
      try transaction.setValue([2], forKey: "a")
      try transaction.setObject(7, forKey: "n", as: IntegerCodec())
      try transaction.setValue(pattern(5000), forKey: "large")
      let (a, n, large) = (
        try transaction.value(forKey: "a"), try transaction.object(forKey: "n", as: IntegerCodec()),
        try transaction.value(forKey: "large")
      )
      #expect(a == [2] && n == 7 && large == pattern(5000))
      let other = try transaction.object(forKey: "a", as: IntegerCodec())
      #expect(other == nil, "of another codec")
      try transaction.removeObject(forKey: "a")
      let removed = try transaction.value(forKey: "a")
      #expect(removed == nil)
      try transaction.setValue([3], forKey: "a")
      try transaction.setObject(nil, forKey: "n", as: IntegerCodec())
    }
    #expect(try cache.environment.lastTransactionID == commit + 1, "one commit")
    #expect(try cache.value(forKey: "a") == [3] && cache.value(forKey: "n") == nil)
    #expect(try cache.value(forKey: "large") == pattern(5000))
  }

  /// Whatever was read, whoever changes it in between, in whichever way.
  @Test(arguments: ["set", "remove", "expire", "add"]) func whatWasReadMustStillBeThere(_ change: String) throws {
    let cache = try DiskCache.open(path, machine)
    let key = change == "add" ? "b" : "a"
    try cache.put("a", [1], CacheEntryOptions(expiration: .after(.seconds(10))))
    var seen: [[UInt8]?] = []
    try cache.transaction { transaction in
      seen.append(try transaction.value(forKey: key))
      if seen.count == 1 {
        switch change {
        case "remove": try cache.drop(key)
        case "expire": machine.advance(.seconds(10))
        default: try cache.put(key, [2])
        }
      }
      try transaction.setValue([UInt8(seen.count)], forKey: "runs")
    }
    #expect(seen.count == 2)
    #expect(try seen.last == cache.value(forKey: key))
    #expect(try cache.value(forKey: "runs") == [2])
  }

  /// A body never sees together what never was together, also not in a run that is not kept.
  @Test(arguments: [10, 5000]) func whatIsReadIsOfOneMoment(length: Int) throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 3000))
    try cache.setValues([("a", pattern(length, 1)), ("b", pattern(length, 1))])
    var runs = 0
    var isSwallowed = false
    let pair = try cache.transaction { transaction -> [[UInt8]?] in
      runs += 1
      let a = try transaction.value(forKey: "a")
      if runs == 1 { try cache.setValues([("a", pattern(length, 2)), ("b", pattern(length, 2))]) }
      if runs == 2 { try cache.put("c", [1]) }
      do {
        return [a, try transaction.value(forKey: "b")]
      } catch {
        isSwallowed = true
        return [a, nil]
      }
    }
    #expect(isSwallowed && runs == 2, "a change of others is no matter")
    #expect(pair == [pattern(length, 2), pattern(length, 2)])
  }

  @Test func whatIsReadTwiceIsTheSameTwice() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.put("a", [1])
    var runs = 0
    try cache.transaction { transaction in
      runs += 1
      let a = try transaction.value(forKey: "a") ?? []
      if runs == 1 { try cache.put("a", [10]) }
      let again = try transaction.value(forKey: "a")
      #expect(again == a)
      try transaction.setValue(a.map { $0 + 1 }, forKey: "a")
    }
    #expect(try cache.value(forKey: "a") == [11], "no change of others is lost")
  }

  /// A damaged entry is none, also while others, who do not know of it, write on and on.
  @Test func aDamagedEntryHoldsNothingUp() throws {
    let cache = try DiskCache.open(path, machine)
    for key in ["a", "b"] { try cache.put(key, [1]) }
    try cache.damage("a") { $0.dropLast() + [9] }
    var runs = 0
    let pair = try cache.transaction { transaction in
      runs += 1
      try #require(runs < 10)
      let a = try transaction.value(forKey: "a")
      try cache.environment.write { try $0.set([UInt8(runs)], forKey: [1], in: cache.tables.meta) }
      return [a, try transaction.value(forKey: "b")]
    }
    #expect(pair == [nil, [1]] && runs == 1)
    try cache.transaction { transaction in
      let a = try transaction.value(forKey: "a")
      try transaction.setValue((a ?? []) + [2], forKey: "a")
    }
    #expect(try cache.value(forKey: "a") == [2])
  }

  @Test func whatTheLimitsDoNotAdmitIsAnError() throws {
    var limits = DiskCache.Limits()
    limits.entryCostLimit = 100
    let cache = try DiskCache.open(path, machine, .init(limits: limits))
    try cache.put("a", [1])
    #expect {
      try cache.transaction { transaction in
        try transaction.setValue([2], forKey: "b")
        try transaction.setValue(pattern(101), forKey: "a")
      }
    } throws: { error in
      (error as? StoreError)?.code == .invalidValue && "\(error)".contains("a")
    }
    #expect(try cache.value(forKey: "a") == [1] && cache.value(forKey: "b") == nil)
    #expect(throws: StoreError.self) {
      try cache.transaction { try $0.removeObject(forKey: String(repeating: "k", count: 70_000)) }
    }
  }

  /// Money that moves between accounts is neither made nor lost, and nobody ever sees another sum.
  @Test func sumsStayWhatTheyAre() async throws {
    let seed = Randomness().seed
    let caches = try (0..<2).map { _ in
      Cache(try DiskCache.open(path, machine), codec: IntegerCodec())
    }
    let accounts = (0..<4).map { "account \($0)" }
    try await caches[0].setObjects(accounts.map { ($0, 100) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          var random = Randomness(seed: seed &+ UInt64(task))
          let cache = caches[task % 2]
          for _ in 0..<100 {
            let (from, to) = (accounts.randomElement(using: &random), accounts.randomElement(using: &random))
            let amount = Int64.random(in: 1...50, using: &random)
            guard let from, let to, from != to else { continue }
            try await cache.transaction { transaction in
              let sum = try accounts.reduce(Int64(0)) { sum, account in
                sum + (try transaction.object(forKey: account) ?? 0)
              }
              #expect(sum == 400, "seed \(seed)")
              let (a, b) = (try transaction.object(forKey: from) ?? 0, try transaction.object(forKey: to) ?? 0)
              try transaction.setObject(a - amount, forKey: from)
              try transaction.setObject(b + amount, forKey: to)
            }
            let now = try cache.objects(forKeys: accounts)
            #expect(now.values.reduce(0, +) == 400, "seed \(seed)")
          }
        }
      }
      try await group.waitForAll()
    }
    try caches[0].diskCache.verify()
  }

  @Test func theMemoryHalfFollows() async throws {
    let cache = Cache(try DiskCache.open(path, machine), codec: StringCodec())
    try await cache.setObject("1", forKey: "a")
    try await cache.setObject("1", forKey: "b")
    try await cache.transaction { transaction in
      try transaction.setObject("2", forKey: "a")
      try transaction.removeObject(forKey: "b")
    }
    #expect(try cache.object(forKey: "a") == "2")
    #expect(try cache.object(forKey: "b") == nil)
    // A load that began before does not bring its value afterwards.
    let (isLoading, mayEnd) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    async let loaded = cache.object(forKey: "c", policy: CacheLoadPolicy()) {
      isLoading.continuation.finish()
      for await _ in mayEnd.stream {}
      return "loaded"
    }
    for await _ in isLoading.stream {}
    try await cache.transaction { try $0.removeObject(forKey: "c") }
    mayEnd.continuation.finish()
    #expect(try await loaded == "loaded")
    #expect(try cache.object(forKey: "c") == nil)
  }
}
