import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Space on disk (S8, S9), and the three faults of YYCache that were reproduced.
@Suite struct DiskCacheSpaceTests {
  let directory = TemporaryDirectory()
  let machine = TestMachine()
  var path: String { directory.path }

  /// YYCache's WAL grew to 208 MB with 20,000 reads. Here reads write nothing at all.
  @Test func readsDoNotGrowTheFile() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValues((0..<1000).map { ("\($0)", pattern(1000, $0)) })
    machine.advance(.seconds(600))
    let before = try cache.environment.info()
    for index in 0..<20_000 { #expect(try cache.value(forKey: "\(index % 1000)")?.count == 1000) }
    let after = try cache.environment.info()
    #expect(after.usedPages == before.usedPages && after.lastTransactionID == before.lastTransactionID)
  }

  /// YYCache's file stayed as large as it had ever been.
  @Test func removedEntriesGiveTheirSpaceBack() throws {
    let cache = try DiskCache.open(path, machine)
    let value = pattern(16_000)
    try cache.setValues((0..<1000).map { ("\($0)", value) })
    let before = try cache.allocatedBytes()
    #expect(before < 16_000_000 * 11 / 10)
    try cache.trim(toCount: 100)
    cache.maintain()
    #expect(try cache.allocatedBytes() < before / 8)
    #expect(try File("\(path)/data.mdb", .read).size() < before / 8)
    try cache.verify()
    try cache.removeAllObjects()
    cache.maintain()
    #expect(try cache.allocatedBytes() < before / 8)
    #expect(try cache.setValue([1], forKey: "a") == .stored)
    try cache.verify()
  }

  /// A value of 4,096 bytes does not take two pages.
  @Test(arguments: [4000, 4032, 4096, 4200, 8192, 16_384]) func pagesAreNotWasted(size: Int) throws {
    let cache = try DiskCache.open(path, machine)
    let value = pattern(size)
    for index in 0..<1000 { try cache.setValue(value, forKey: "key \(index)") }
    let info = try cache.environment.info()
    let taken = (info.usedPages - info.freePages) * info.pageSize
    #expect(taken < 1000 * size * 118 / 100, "\(taken * 100 / (1000 * size)) %")
  }

  /// S8: the free-space limit never empties the cache where that frees nothing.
  @Test func aFullVolumeDoesNotEmptyTheCache() throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 50_000))
    try cache.setValues((0..<200).map { ("\($0)", pattern(1000, $0)) })
    try cache.setValues((0..<10).map { ("file \($0)", pattern(100_000, $0)) })
    try cache.setValue([1], forKey: "old", options: .init(expiration: .after(.seconds(1))))
    machine.advance(.seconds(10))
    cache.limits = .init(freeDiskSpaceLimit: 1 << 30)
    // 250 kB are missing: the expired one and three files are enough.
    machine.state.update { $0.available = 1 << 30 - 250_000 }
    cache.maintain()
    #expect(try cache.totalCount() == 207)
    #expect(try FileSystem.names(in: "\(path)/files").count == 7)
    // Far more is missing than the cache has: files go, since that frees something; the rest would leave for nothing.
    machine.state.update { $0.available = 0 }
    for _ in 0..<5 { cache.maintain() }
    #expect(try cache.totalCount() == 200)
    try cache.verify()
  }

  /// S8: where rewriting the file frees enough, entries leave for it, and no more than needed.
  @Test func entriesLeaveForFreeSpaceWhenTheFileCanBeRewritten() throws {
    let cache = try DiskCache.open(path, machine)
    let value = pattern(16_000)
    try cache.setValues((0..<1000).map { ("\($0)", value) })
    let before = try cache.allocatedBytes()
    cache.limits = .init(freeDiskSpaceLimit: 100 << 20)
    machine.state.update { $0.available = 96 << 20 }
    cache.maintain()
    #expect(try cache.allocatedBytes() <= before - 4 << 20)
    let left = try cache.totalCount()
    #expect(left > 600 && left < 760, "\(left) are left")
    #expect(try cache.containsObject(forKey: "999"))
    try cache.verify()
  }

  /// What a process leaves behind that ends between file and commit.
  @Test func filesWithoutAnEntryAreSwept() throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 1000))
    try cache.setValue(pattern(5000), forKey: "a")
    let folder = cache.folder
    let staged = try folder.begin()
    try staged.write(pattern(10).span)
    let orphan = try File("\(path)/files/00000000000000ff", .new)
    try orphan.write([1, 2].span)
    cache.maintain()
    #expect(try FileSystem.names(in: "\(path)/files").count == 2, "the one that is being written stays")
    try staged.finish()
    #expect(try cache.value(forKey: "a") == pattern(5000))
  }

  /// S9: many files are removed behind the back of whoever removes everything.
  @Test func manyFilesAreRemovedInTheBackground() async throws {
    let cache = try DiskCache.open(path, machine, .init(inlineThreshold: 100))
    for index in 0..<40 { try cache.put("\(index)", pattern(200, index)) }
    #expect(try FileSystem.names(in: "\(path)/files").count == 40)
    try await cache.removeAllObjects()
    #expect(try cache.totalCount() == 0 && cache.value(forKey: "1") == nil)
    while try !FileSystem.names(in: "\(path)/files").isEmpty { await Task.yield() }
    try cache.verify()
  }

  /// S9: it costs a step a page, and nothing of what was there is seen afterwards.
  @Test func removingEverythingIsOneCommit() throws {
    let cache = try DiskCache.open(path, machine)
    try cache.setValues((0..<5000).map { ("\($0)", pattern($0 % 3000, $0)) })
    let before = try cache.environment.info().lastTransactionID
    try cache.removeAllObjects()
    #expect(try cache.environment.info().lastTransactionID == before + 1)
    #expect(try cache.totalCount() == 0 && cache.totalBytes() == 0)
    #expect(try !cache.containsObject(forKey: "17"))
    try cache.verify()
  }
}
