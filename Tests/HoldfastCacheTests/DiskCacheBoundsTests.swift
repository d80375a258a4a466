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
}
