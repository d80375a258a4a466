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
    let table = AtomicTable(count: 8)
    #expect((0..<8).allSatisfy { table.load($0) == 0 })
    for place in 0..<8 { table.store(UInt32(place) + 100, place) }
    table.store(.max, 3)
    #expect((0..<8).map { table.load($0) } == [100, 101, 102, .max, 104, 105, 106, 107])
    // Of a place's bits, as many count as there are places.
    #expect(table.load(11) == .max)
  }
}
