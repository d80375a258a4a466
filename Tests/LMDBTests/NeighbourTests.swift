import TestSupport
import Testing

@testable import LMDB

/// Values of lists of keys, looked up in any order, beside single reads.
@Suite struct NeighbourTests {
  let scratch = TemporaryDirectory()

  /// Some of the numbers below 3,000, of which many lie together and many are missing, over many pages.
  private func make(_ generator: inout SeededGenerator) throws -> (Environment, Database, Set<Int>) {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    var stored: Set<Int> = []
    while stored.count < 1200 {
      let start = Int.random(in: 0..<3000, using: &generator)
      stored.formUnion(start..<start + Int.random(in: 1...60, using: &generator))
    }
    let order = stored.sorted().shuffled(using: &generator)
    try environment.write { t in
      for n in order { try t.set(Array("\(n)".utf8) + [UInt8](repeating: 7, count: n % 90), forKey: key(n), in: a) }
    }
    return (environment, a, stored)
  }

  private func key(_ n: Int) -> String { "number:" + "0000\(n)".suffix(5) }

  /// Runs of neighbours, near and far, up and down, with repetitions.
  private func numbers(_ generator: inout SeededGenerator) -> [Int] {
    var numbers: [Int] = []
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let start = Int.random(in: 0..<3100, using: &generator)
      let stride = [1, 1, -1, 2, -2, 7, 0].randomElement(using: &generator) ?? 1
      numbers += (0..<Int.random(in: 1...30, using: &generator)).map { abs(start + $0 * stride) }
    }
    return Bool.random(using: &generator) ? numbers : numbers.shuffled(using: &generator)
  }

  @Test func listsFindWhatSingleReadsFind() throws {
    let seed = UInt64(setting("HF_SEED", or: Int.random(in: 0..<1_000_000)))
    var generator = SeededGenerator(seed: seed)
    let (environment, a, stored) = try make(&generator)
    let pool = CursorPool(of: a)
    for round in 0..<400 {
      let numbers = numbers(&generator)
      let order = round % 3 == 0 ? Array(numbers.indices) : Array(numbers.indices.reversed())
      var found = [String?](repeating: "unknown", count: numbers.count)
      try environment.read { t in
        try t.withValueList(capacity: numbers.count, pool) { list in
          for index in order {
            let bytes = Array(key(numbers[index]).utf8)
            try list.find(index, bytes.span)
            if let value = list[index] {
              found[index] = String(decoding: [UInt8](copying: value).prefix { $0 != 7 }, as: UTF8.self)
            } else {
              found[index] = nil
            }
          }
        }
      }
      #expect(found == numbers.map { stored.contains($0) ? "\($0)" : nil }, "seed \(seed), round \(round)")
    }
  }

  @Test func aRunOfMissingNeighboursIsNotThere() throws {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    try environment.write { t in for n in [1, 2, 900] { try t.set([1], forKey: key(n), in: a) } }
    var found: [Int] = []
    try environment.read { t in
      let keys = [2, 3, 4, 5, 899, 900, 901, 902, 899, 3, 2, 1, 0, 1].map { Array(key($0).utf8) }
      try t.values(forKeys: keys, in: a) { index, value in if value != nil { found.append(index) } }
    }
    #expect(found == [0, 5, 10, 11, 13])
  }
}
