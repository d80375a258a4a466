import LMDB
import TestSupport
import Testing

/// Changes of one transaction go by cursors that stay where the last one was; they must find what a search would.
@Suite struct WriteCursorTests {
  /// HOLDFAST_SEED repeats a run.
  @Test func manyChangesInOneTransactionAgreeWithADictionary() throws {
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let scratch = TemporaryDirectory()
    let environment = try Environment.open(
      at: scratch(), databases: ["a", "b"], options: .init(durability: .unsafeNoSync, mapSize: 1 << 30))
    let databases = try [environment.database("a"), environment.database("b")]
    var expected: [[[UInt8]: [UInt8]]] = [[:], [:]]
    // The trees grow, shrink until nothing is left, and grow again: pages are split and merged under the cursors.
    for chance in [9, 5, 1, 0, 9, 2] {
      let changes = (0..<4000).map { step in
        let random = Int.random(in: 0..<1500, using: &generator)
        let number = chance == 0 ? step / 2 : Int.random(in: 0..<4, using: &generator) == 0 ? step % 1500 : random
        let length = Int.random(in: 0..<20, using: &generator) == 0 ? 3000 : Int.random(in: 0..<200, using: &generator)
        let value = [UInt8](repeating: UInt8(step & 0xFF), count: length)
        let isSet = Int.random(in: 0..<10, using: &generator) < chance
        return (step & 1, Array("\(1_000_000 + number)".utf8), isSet ? value : nil)
      }
      try environment.write { t in
        for (place, key, value) in changes {
          if let value {
            try t.set(value.span, forKey: key.span, in: databases[place])
          } else {
            try t.removeValue(forKey: key.span, in: databases[place])
          }
        }
      }
      for (place, key, value) in changes { expected[place][key] = value }
      for (database, expected) in zip(databases, expected) {
        let found = try environment.read { t in
          var found: [[UInt8]: [UInt8]] = [:]
          var cursor = try t.cursor(in: database)
          while try cursor.next() { found[[UInt8](copying: cursor.key)] = [UInt8](copying: cursor.value) }
          return found
        }
        #expect(found == expected, "seed \(seed)")
      }
    }
    try environment.verify()
  }

  /// HOLDFAST_SEED repeats a run.
  @Test(arguments: [false, true]) func whatIsBesideAChangeIsFound(_ hasCursor: Bool) throws {
    let seed = UInt64(setting("HOLDFAST_SEED", or: Int.random(in: 0..<1_000_000)))
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    var expected: Set<UInt64> = []
    for _ in 0..<20 {
      // Few changes of a transaction go without a cursor, and many with one.
      let numbers = (0..<(hasCursor ? 200 : 2)).map { _ in UInt64.random(in: 0..<500, using: &generator) }
      try environment.write { t in
        if hasCursor { t.openCursor(in: a) }
        for number in numbers {
          let key = ShortBytes(bigEndian: number)
          let value = [UInt8](repeating: 1, count: 100)
          let isNew = try t.insert(value.span, forKey: key, in: a)
          #expect(isNew == expected.insert(number).inserted, "seed \(seed)")
          let (before, found) = (
            copied(try t.key(before: key, in: a)),
            try t.value(forKey: ShortBytes(bigEndian: number / 2), in: a) != nil
          )
          let previous = expected.filter { $0 < number }.max()
          #expect(before == previous.map { ShortBytes(bigEndian: $0).array }, "seed \(seed)")
          #expect(found == expected.contains(number / 2), "seed \(seed)")
          if number % 3 == 0 {
            try t.removeValue(forKey: key, in: a)
            expected.remove(number)
          }
        }
      }
    }
    let none = try environment.write { t in try t.key(before: ShortBytes(bigEndian: 9999), in: a) == nil }
    #expect(none, "a key that is not there has none before it")
  }

  private func copied(_ span: Span<UInt8>?) -> [UInt8]? {
    guard let span else { return nil }
    return [UInt8](copying: span)
  }

  @Test func aMemoEndsWithWhatIsTakenBack() throws {
    final class Note {}
    struct Stop: Error {}
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    let (first, second) = (Note(), Note())
    try environment.write { t in
      t.memo = first
      t.remember((1, 2), of: a)
      try? t.nested { n in
        #expect(n.memo === first && n.remembered(of: a)?.1 == 2)
        n.memo = second
        try n.set([1], forKey: "1", in: a)
        #expect(n.remembered(of: a) == nil)
        throw Stop()
      }
      #expect(t.memo === first && t.remembered(of: a)?.0 == 1)
      try t.nested { n in n.memo = second }
      #expect(t.memo === second)
    }
    try environment.write { t in #expect(t.memo == nil && t.remembered(of: a) == nil) }
  }

  @Test func anEmptiedDatabaseTakesMore() throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    try environment.write { t in
      for text in ["1", "2", "3"] { try t.set([1], forKey: text, in: a) }
      for text in ["3", "1", "2", "2"] { try t.removeValue(forKey: text, in: a) }
      try t.set([2], forKey: "1", in: a)
      try t.nested { n in
        for text in ["1", "4"] { try n.removeValue(forKey: text, in: a) }
        try n.set([3], forKey: "5", in: a)
      }
      for text in ["0", "9"] { try t.set([4], forKey: text, in: a) }
    }
    let keys = try environment.read { t in
      var keys: [String] = []
      var cursor = try t.cursor(in: a)
      while try cursor.next() { keys.append(String(decoding: [UInt8](copying: cursor.key), as: UTF8.self)) }
      return keys
    }
    #expect(keys == ["0", "5", "9"])
    try environment.verify()
  }
}
