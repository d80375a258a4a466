import TestSupport
import Testing

@testable import Holdfast

@Suite struct DiskCacheBoundsTests {
  private let directory = TemporaryDirectory()

  @Test func costsCannotOverflowTheTotals() throws {
    let cache = try DiskCache.open(at: "\(directory.path)/cache")
    #expect(try cache.setValue([1], forKey: "a", options: .init(cost: .max)) == .rejected)
    #expect(try cache.setValue([1], forKey: "b", options: .init(cost: .max / 2)) == .stored)
    #expect(try cache.setValue([1], forKey: "c", options: .init(cost: .max / 2)) == .rejected)
    #expect(try cache.setValue([1], forKey: "d") == .rejected)
    try cache.removeObject(forKey: "b")
    #expect(try cache.setValue([1], forKey: "d") == .stored)
  }

  @Test(arguments: [0, -1])
  func aLimitOfNothingStoresNothing(_ limit: Int) throws {
    let cache = try DiskCache.open(
      at: "\(directory.path)/cache", configuration: .init(limits: .init(countLimit: limit)))
    #expect(try cache.setValue([1], forKey: "a") == .rejected)
    #expect(try cache.value(forKey: "a") == nil)
  }

  /// A cache may be set aside as a whole; a store may not.
  @Test func aStoreAndACacheDoNotShareADirectory() throws {
    _ = try Store.open(at: "\(directory.path)/store")
    #expect(throws: StoreError.self) { _ = try DiskCache.open(at: "\(directory.path)/store") }
    _ = try DiskCache.open(at: "\(directory.path)/cache")
    #expect(throws: StoreError.self) { _ = try Store.open(at: "\(directory.path)/cache") }
    #expect(throws: StoreError.self) { _ = try Store.open(at: "\(directory.path)/cache", isReadOnly: true) }
    _ = try Store.open(at: "\(directory.path)/store")
  }

  /// Numbers that only damage makes must not end the process.
  @Test(arguments: [UInt64.max, UInt64.max / 2, UInt64.max / 2 + 1]) func extremeNumbersInADamagedFile(_ number: UInt64)
    throws
  {
    let machine = TestMachine()
    let cache = try DiskCache.open("\(directory.path)/cache", machine, .init(limits: .init(costLimit: 10_000)))
    for index in 0..<8 {
      try cache.put("\(index)", pattern(100, index), .init(priority: index == 7 ? .pinned : .normal))
    }
    machine.advance(.seconds(61))
    _ = try cache.value(forKey: "1")
    try cache.settleTouches()
    let tables = cache.tables
    try cache.environment.write { transaction in
      var totals = DiskCacheTotals()
      let signed = Int(truncatingIfNeeded: number)
      (totals.count, totals.cost, totals.bytes, totals.fileBytes) = (signed, signed, signed, signed)
      (totals.pinnedCount, totals.pinnedCost, totals.last) = (signed, signed, number)
      let bytes = totals.encoded()
      try transaction.set(bytes, forKey: "totals", in: tables.meta)
      for row in try tables.rows(of: tables.touches, limit: 10, in: transaction.reader) {
        var last: [UInt8] = []
        last.append(littleEndian: number)
        try transaction.set(last.span, forKey: row.key.span, in: tables.touches)
      }
    }
    // The highest cost that a record can have.
    try cache.damage("2") {
      $0.enumerated().map { (32..<39).contains($0.offset) ? 0xFF : $0.offset == 39 ? 0x7F : $0.element }
    }
    #expect(throws: StoreError.self) { try cache.verify() }
    machine.advance(.seconds(61))
    for index in 0..<8 {
      _ = try cache.value(forKey: "\(index)")
      _ = try? cache.put("\(index)", pattern(50, index), .init(priority: index == 6 ? .pinned : .normal))
    }
    try cache.settleTouches()
    _ = try cache.trim(toCount: 3)
    _ = try cache.info(forKey: "1")
    try cache.removeAllObjects()
    try cache.put("a", [1])
    #expect(try cache.value(forKey: "a") == [1])
    try cache.verify()
  }
}
