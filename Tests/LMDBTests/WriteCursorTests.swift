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
