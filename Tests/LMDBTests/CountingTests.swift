import LMDB
import Testing

/// What threads count and remember without a lock.
@Suite struct CountingTests {
  @Test func nothingIsLostOfWhatThreadsCountAtOnce() async {
    let tally = Tally()
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<10_000 { tally.increase() } }
      }
    }
    #expect(tally.sum == 80_000)
  }

  @Test func aTableHoldsWhatWasStoredLast() {
    let table = AtomicTable(bits: 3)
    let keys = (0..<100 as Range<UInt64>).map { $0 &* 0x1_0000_0001 }
    #expect(keys.allSatisfy { table.load($0) == 0 })
    for (number, key) in keys.enumerated() {
      table.store(UInt64(number) + 1, key)
      #expect(table.load(key) == UInt64(number) + 1)
    }
    // Eight of them have a place of their own at most.
    let kept = keys.indices.count { table.load(keys[$0]) == UInt64($0) + 1 }
    #expect((1...8).contains(kept))
  }
}
