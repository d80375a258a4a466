import LMDB
import TestSupport
import Testing

@Suite struct BatchReadTests {
  let scratch = TemporaryDirectory()

  /// Every second number below 2,000.
  private func make() throws -> (Environment, Database) {
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    try environment.write { t in
      for n in stride(from: 0, to: 2000, by: 2) { try t.set(Array("\(n)".utf8), forKey: text(n), in: a) }
    }
    return (environment, a)
  }

  private func text(_ n: Int) -> String { String("0000\(n)".suffix(5)) }

  @Test(arguments: [
    Array(0..<64), Array(990..<1010), [0, 1, 2, 500, 501, 502, 503, 1998, 1999, 2000, 2001], [1999, 3000],
    [7, 7, 8, 8],
    [1500, 2, 2, 1, 0, 1998, 5000, 4], [], [5000, 5001],
  ]) func findsWhatSingleReadsFind(_ numbers: [Int]) throws {
    let (environment, a) = try make()
    var found: [String?] = []
    try environment.read { t in
      try t.values(forKeys: numbers.map { Array(text($0).utf8) }, in: a) { index, value in
        #expect(index == found.count)
        if let value {
          found.append(String(decoding: [UInt8](copying: value), as: UTF8.self))
        } else {
          found.append(nil)
        }
      }
    }
    #expect(found == numbers.map { $0 < 2000 && $0 % 2 == 0 ? "\($0)" : nil })
  }

  @Test func randomKeysInAndOutOfOrder() throws {
    let (environment, a) = try make()
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    var generator = SeededGenerator(seed: seed)
    for round in 0..<200 {
      var numbers = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
        Int.random(in: 0..<2100, using: &generator)
      }
      if round % 4 != 0 { numbers.sort() }
      var found: [Bool] = []
      try environment.read { t in
        try t.values(forKeys: numbers.map { Array(text($0).utf8) }, in: a) { _, value in found.append(value != nil) }
      }
      #expect(found == numbers.map { $0 < 2000 && $0 % 2 == 0 }, "seed \(seed), round \(round)")
    }
  }

  @Test func wrongLengthsAreErrors() throws {
    let (environment, a) = try make()
    for key in [[], [UInt8](repeating: 1, count: 512)] {
      #expect(code { try environment.read { t in try t.values(forKeys: [key], in: a) { _, _ in } } } == .invalidKey)
      #expect(
        code { try environment.read { t in try t.values(forKeys: [[1], key], in: a) { _, _ in } } } == .invalidKey)
    }
  }
}
