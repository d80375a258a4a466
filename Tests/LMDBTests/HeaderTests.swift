import Foundation
import TestSupport
import Testing

@testable import LMDB

/// Files that LMDB would map, and die of.
@Suite struct HeaderTests {
  let scratch = TemporaryDirectory()

  /// Makes a healthy file, has `change` damage it, and opens it.
  private func open(_ change: (inout [UInt8]) -> Void) throws -> StoreError.Code? {
    let path = scratch(UUID().uuidString)
    do {
      let (environment, a) = try Environment.make(at: path)
      try environment.write { t in for n in 0..<200 { try t.set([1, 2, 3], forKey: "\(n)", in: a) } }
    }
    let file = URL(filePath: path + "/data.mdb")
    var bytes = [UInt8](try Data(contentsOf: file))
    change(&bytes)
    try Data(bytes).write(to: file)
    return code { try Environment.make(at: path) }
  }

  @Test func anUntouchedFileOpens() throws { #expect(try open { _ in } == nil) }
  @Test func emptyFile() throws { #expect(try open { $0 = [] } == .damaged) }
  @Test func oneByte() throws { #expect(try open { $0 = [1] } == .notADatabase) }
  @Test func foreignFile() throws {
    #expect(try open { $0 = Array("SQLite format 3".utf8) + [UInt8](repeating: 0, count: 9000) } == .notADatabase)
  }
  @Test func zeros() throws { #expect(try open { $0 = [UInt8](repeating: 0, count: 8192) } == .notADatabase) }
  @Test func oneBadMetaPage() throws { #expect(try open { $0[4096 + 16] ^= 0xFF } == .damaged) }
  @Test func pageSizeOfZero() throws {
    #expect(try open { $0.replaceSubrange(40..<44, with: [0, 0, 0, 0]) } == .damaged)
  }
  @Test func pageSizeThatIsNoPowerOfTwo() throws {
    #expect(try open { $0.replaceSubrange(40..<44, with: [1, 16, 0, 0]) } == .damaged)
  }
  /// LMDB takes it from whichever page is newer.
  @Test(arguments: [0, 4096]) func pageSizeOfOnePageOnly(_ page: Int) throws {
    #expect(try open { $0.replaceSubrange(page + 40..<page + 44, with: [0, 0, 0, 0]) } == .damaged)
    #expect(try open { $0.replaceSubrange(page + 40..<page + 44, with: [0, 32, 0, 0]) } == .damaged)
  }
  @Test func unknownFlags() throws {
    #expect(
      try open { bytes in for page in [0, 4096] { bytes[page + 93] = 0x10 } } == .damaged)
  }
  @Test func versionThree() throws { #expect(try open { $0[20] = 3 } == .unsupportedVersion) }
  @Test func versionOfTheSecondPage() throws { #expect(try open { $0[4096 + 20] = 3 } == .unsupportedVersion) }
  @Test func unknownVersion() throws { #expect(try open { $0[20] = 99 } == .unsupportedVersion) }
  @Test func cutAfterTheHeader() throws { #expect(try open { $0 = Array($0[..<8192]) } == .damaged) }
  @Test func cutInsideTheHeader() throws { #expect(try open { $0 = Array($0[..<6000]) } == .damaged) }

  @Test func messagesSayWhatMadeTheFile() throws {
    let path = scratch()
    do { _ = try Environment.make(at: path) }
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: path + "/data.mdb")))
    bytes[20] = 3
    try Data(bytes).write(to: URL(filePath: path + "/data.mdb"))
    let failure = #expect(throws: StoreError.self) { try Environment.make(at: path) }
    #expect(failure?.message.contains("LMDB 1.x") == true)
  }

  @Test func oldVersionsOfLMDBAreRefused() throws {
    func check(_ major: Int32, _ minor: Int32, _ patch: Int32, pageSize: Int = 4096) -> StoreError.Code? {
      code { try Environment.checkVersion(major, minor, patch, pageSize: pageSize) }
    }
    #expect(check(0, 9, 24) == nil && check(0, 9, 36) == nil)
    #expect(check(0, 9, 23) == .unsupportedVersion)
    #expect(check(1, 0, 0) == .unsupportedVersion && check(0, 10, 40) == .unsupportedVersion)
    #expect(check(0, 9, 29, pageSize: 16384) == .unsupportedVersion && check(0, 9, 30, pageSize: 16384) == nil)
  }

  @Test func networkFileSystemsAreKnownByTheirNumbers() {
    for type: UInt32 in [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x6573_5546] {
      #expect(FileSystem.isNetwork(type: type))
    }
    // ext4, tmpfs, overlayfs, xfs, btrfs
    for type: UInt32 in [0xEF53, 0x0102_1994, 0x794C_7630, 0x5846_5342, 0x9123_683E] {
      #expect(!FileSystem.isNetwork(type: type))
    }
    #expect(!FileSystem.isOnNetwork(scratch.path))
  }
}
