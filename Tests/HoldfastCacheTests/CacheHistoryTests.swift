import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Whether what several tasks saw of a cache fits one order of all operations (S9, S10).
@Suite struct CacheHistoryTests {
  @Test(arguments: 0..<3) func everythingThatTasksSeeIsInOneOrder(round: Int) async throws {
    let directory = TemporaryDirectory()
    let machine = TestMachine()
    // A memory half that is too small for all keys, so that values come and go there.
    let disk = try DiskCache.open(directory.path, machine)
    let cache = Cache(disk, codec: StringCodec(), memoryCache: MemoryCache(countLimit: 24))
    let other = Cache(disk, codec: StringCodec(), memoryCache: MemoryCache(countLimit: 24))
    let clock = Monitor(0)
    @Sendable func tick() -> Int {
      clock.update { time in
        time += 1
        return time
      }
    }
    let log = Monitor<[Int: [Operation]]>([:])
    let seed = Randomness().seed
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          var randomness = Randomness(seed: seed &+ UInt64(task))
          // Two façades on one disk cache see each other's changes, too.
          let cache = task % 2 == 0 ? cache : other
          for step in 0..<250 {
            let key = randomness.below(16)
            let value = task * 1000 + step + 1
            let begin = tick()
            var kind = Operation.Kind.remove
            var keys = [key]
            switch randomness.below(100) {
            case 0..<55: kind = .get(try cache.object(forKey: "\(key)").flatMap(Int.init))
            case 55..<85:
              kind = .set(value)
              try Self.set(cache, key, value)
            case 85..<90:
              kind = .set(value)
              try await cache.setObject("\(value)", forKey: "\(key)")
            case 90..<97: try Self.remove(cache, key)
            case 97..<98:
              keys = Array(0..<16)
              try Self.removeAll(cache)
            default:
              keys = Array(0..<16)
              kind = .evict
              try await cache.diskCache.trim(toCount: 12)
            }
            let end = tick()
            log.update { log in
              for key in keys { log[key, default: []].append(Operation(kind: kind, begin: begin, end: end)) }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for (key, operations) in log.update({ $0 }) {
      #expect(History(operations).isLinearizable, "key \(key), seed \(seed)")
    }
    try disk.verify()
  }

  private static func set(_ cache: Cache<String>, _ key: Int, _ value: Int) throws {
    try cache.setObject("\(value)", forKey: "\(key)")
  }
  private static func remove(_ cache: Cache<String>, _ key: Int) throws { try cache.removeObject(forKey: "\(key)") }
  private static func removeAll(_ cache: Cache<String>) throws { try cache.removeAllObjects() }

  /// The checker itself can tell.
  @Test func aHistoryThatFitsNoOrder() {
    func history(_ operations: (Operation.Kind, Int, Int)...) -> Bool {
      History(operations.map { Operation(kind: $0.0, begin: $0.1, end: $0.2) }).isLinearizable
    }
    #expect(history((.set(1), 1, 2), (.get(1), 3, 4), (.remove, 5, 6), (.get(nil), 7, 8)))
    #expect(!history((.set(1), 1, 2), (.get(nil), 3, 4)))
    #expect(history((.set(1), 1, 2), (.evict, 3, 4), (.get(nil), 5, 6)))
    #expect(!history((.set(1), 1, 2), (.evict, 3, 4), (.get(nil), 5, 6), (.get(1), 7, 8)), "it has come back")
    #expect(history((.set(1), 1, 8), (.get(nil), 2, 3), (.get(1), 4, 5)))
    #expect(!history((.set(1), 1, 8), (.get(1), 2, 3), (.get(nil), 4, 5)))
    #expect(!history((.set(1), 1, 2), (.set(2), 3, 4), (.get(1), 5, 6)), "an old value over the new one")
  }

  struct Operation: Sendable {
    enum Kind: Sendable {
      case get(Int?)
      case set(Int)
      case remove
      /// May have removed it.
      case evict
    }
    let kind: Kind
    let begin: Int
    let end: Int
  }

  /// The operations on one key; looks for an order in which each sees what those before it did (Wing and Gong, 1993).
  struct History {
    private let operations: [Operation]

    init(_ operations: [Operation]) { self.operations = operations.sorted { $0.begin < $1.begin } }

    private struct Situation: Hashable {
      /// All operations before this one are in the order.
      var first = 0
      /// And these after it.
      var ahead: Set<Int> = []
      var value: Int?
    }

    var isLinearizable: Bool {
      var seen: Set<Situation> = []
      var open = [Situation()]
      while let situation = open.popLast() {
        if situation.first == operations.count { return true }
        guard seen.insert(situation).inserted else { continue }
        // What may come next: what began before any of the others had ended.
        var limit = Int.max
        var index = situation.first
        while index < operations.count, operations[index].begin < limit {
          defer { index += 1 }
          if situation.ahead.contains(index) { continue }
          limit = min(limit, operations[index].end)
          for value in outcomes(operations[index].kind, situation.value) {
            var next = situation
            next.value = value
            next.ahead.insert(index)
            while next.ahead.remove(next.first) != nil { next.first += 1 }
            open.append(next)
          }
        }
      }
      return false
    }

    private func outcomes(_ kind: Operation.Kind, _ value: Int?) -> [Int?] {
      switch kind {
      case .get(let seen): seen == value ? [value] : []
      case .set(let new): [new]
      case .remove: [nil]
      case .evict: value == nil ? [nil] : [value, nil]
      }
    }
  }
}
