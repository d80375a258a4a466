import Foundation
import LMDB
import TestSupport
import Testing

/// A file with many small gaps, and values that need neighbouring pages.
@Suite struct ChurnTests {
  /// HOLDFAST_CHURN sets how many values of 3 KB come and go, 200000 for the whole way.
  ///
  /// LMDB searches its list of free pages for a run: the time that one value takes is printed, since it is what limits
  /// values to a few pages where there is churn. What is checked: no error, no damage, and the gaps are used.
  @Test func largeValuesAfterChurn() throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch(), .init(durability: .unsafeNoSync))
    var generator = SeededGenerator(seed: 1)
    let count = setting("HOLDFAST_CHURN", or: 20_000)
    for start in stride(from: 0, to: count, by: 1000) {
      try environment.write { t in
        for n in start..<min(count, start + 1000) {
          try t.set([UInt8](repeating: UInt8(n % 251), count: 3000), forKey: "small \(n)", in: a)
        }
      }
    }
    let removed = (0..<count).shuffled(using: &generator).prefix(count / 2)
    for start in stride(from: 0, to: removed.count, by: 1000) {
      try environment.write { t in
        for n in removed[start..<min(removed.count, start + 1000)] { try t.removeValue(forKey: "small \(n)", in: a) }
      }
    }
    let before = try environment.info()
    #expect(before.freePages > count / 3)
    let large = [UInt8](repeating: 9, count: 65_536)
    let single = try ContinuousClock().measure {
      for n in 0..<50 { try environment.write { try $0.set(large, forKey: "large \(n)", in: a) } }
    }
    let together = try ContinuousClock().measure {
      try environment.write { t in for n in 50..<100 { try t.set(large, forKey: "large \(n)", in: a) } }
    }
    let paged = try ContinuousClock().measure {
      for n in 0..<50 {
        try environment.write { t in
          for piece in 0..<16 { try t.set(Array(large[..<4000]), forKey: "piece \(n) \(piece)", in: a) }
        }
      }
    }
    print(
      "64 KiB among \(before.freePages) free pages: \(single / 50) alone, \(together / 50) of 50 together, "
        + "\(paged / 50) in pieces of a page")
    // 17 pages each, at worst all of them new.
    #expect(try environment.info().usedPages - before.usedPages < 100 * 17 + 50)
    #expect(try environment.statistics(of: a).entries == count - removed.count + 100 + 50 * 16)
    try environment.read { t in for n in 0..<100 { #expect(t.bytes("large \(n)", in: a) == large) } }
    try environment.verify()
  }
}
