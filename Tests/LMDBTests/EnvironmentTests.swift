import Foundation
import LMDB
import Testing

@Suite struct EnvironmentTests {
  @Test func storesAndReads() throws {
    let env = try Environment.open(at: NSTemporaryDirectory() + "hf-\(UUID())", databases: ["a"])
    let a = try env.database("a")
    try env.write { t in
      try t.set([1, 2, 3], forKey: "k1", in: a)
      try t.set([4], forKey: "k2", in: a)
      try t.set([], forKey: "k3", in: a)
    }
    let n = try env.read { t in try t.value(forKey: "k1", in: a)?.count }
    #expect(n == 3)
    let keys = try env.read { t in
      var found: [[UInt8]] = []
      var c = try t.cursor(in: a, over: .prefix("k"))
      while try c.next() { found.append([UInt8](copying: c.key)) }
      while try c.previous() { found.append([UInt8](copying: c.value)) }
      return found
    }
    #expect(keys == [Array("k1".utf8), Array("k2".utf8), Array("k3".utf8), [], [4], [1, 2, 3]])
  }
}
