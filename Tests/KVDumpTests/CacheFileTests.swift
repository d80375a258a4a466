import Foundation
import Holdfast
import TestSupport
import Testing

/// The files of a cache's large values, which belong to what `cache verify` looks at and `copy` copies.
@Suite struct CacheFileTests {
  private let folder = TemporaryDirectory()
  private var cache: String { "\(folder.path)/cache" }
  private var files: String { "\(cache)/files" }

  /// Two values in files, one in two rows, one in one. One of those in files has more than one piece.
  private func fill() throws {
    let cache = try DiskCache.open(at: cache, configuration: .init(inlineThreshold: 100_000))
    try cache.setValue((0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }, forKey: "large")
    try cache.setValue([UInt8](repeating: 5, count: 200_000), forKey: "medium")
    try cache.setValue([UInt8](repeating: 6, count: 5000), forKey: "split")
    try cache.setValue([1, 2, 3], forKey: "small")
  }

  private func file(of key: String) throws -> String {
    let lines = try Tool.kvdump("cache", "show", cache, key).output.split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("stored in") })
    return try #require(line.split(separator: " ").last.map(String.init))
  }

  private func change(_ path: String, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    body(&data)
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// Checks the cache, and returns what was wrong.
  private func verify(_ path: String, errors: Int) throws -> [String] {
    let command = try Tool.kvdump("cache", "verify", path)
    let lines = command.output.split(separator: "\n").map(String.init)
    #expect(command.status == (errors > 0 ? 1 : 0), "\(command.output) \(command.errors)")
    #expect(lines.last == "\(errors) error\(errors == 1 ? "" : "s"), 4 entries checked")
    return lines.dropLast() + command.errors.split(separator: "\n").map(String.init)
  }

  @Test func filesThatAreAsTheyWereWrittenAreSound() throws {
    try fill()
    let before = try Tool.listing(cache) + Tool.listing(files)
    #expect(try verify(cache, errors: 0) == [])
    let entry = try Tool.kvdump("cache", "show", cache, "large").output
    #expect(try entry.contains("\(files)/") && entry.hasSuffix(startOfLarge()))
    #expect(try Tool.kvdump("cache", "show", cache, "split").output.contains("00000000: 0606"))
    #expect(try Tool.listing(cache) + Tool.listing(files) == before)
  }

  /// The last line of the first 256 bytes.
  private func startOfLarge() throws -> String {
    let bytes = (240..<256).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let words = stride(from: 0, to: 16, by: 2).map { String(format: "%02x%02x", bytes[$0], bytes[$0 + 1]) }
    let text = bytes.map { (0x20...0x7E).contains($0) ? String(UnicodeScalar($0)) : "." }.joined()
    return "000000f0: \(words.joined(separator: " "))  \(text)\n"
  }

  @Test func missingFilesAreErrors() throws {
    try fill()
    try FileManager.default.removeItem(atPath: file(of: "large"))
    let shown = try Tool.kvdump("cache", "show", cache, "large")
    #expect(shown.status == 65 && shown.errors.hasSuffix("is missing\n") && shown.output.hasPrefix("key"))
    let lines = try verify(cache, errors: 1)
    #expect(lines.count == 1 && lines[0].contains("the cache entry large") && lines[0].hasSuffix("is missing."))
    try FileManager.default.removeItem(atPath: files)
    #expect(try verify(cache, errors: 2).allSatisfy { $0.hasSuffix("is missing.") })
  }

  @Test func shortFilesAreErrors() throws {
    try fill()
    try change(file(of: "medium")) { $0.removeLast() }
    let lines = try verify(cache, errors: 1)
    #expect(lines.count == 1 && lines[0].contains("medium") && lines[0].hasSuffix("has 199999 bytes, not 200000."))
  }

  @Test(arguments: [0, 1_048_575, 1_048_576, 2_499_999]) func alteredFilesAreErrors(_ place: Int) throws {
    try fill()
    try change(file(of: "large")) { $0[place] ^= 1 }
    let lines = try verify(cache, errors: 1)
    #expect(lines.count == 1 && lines[0].hasSuffix("has other bytes than were written."))
  }

  @Test func aValueInTwoRowsIsCompared() throws {
    try fill()
    try change("\(cache)/data.mdb") { data in
      // Every run of its bytes, wherever earlier commits left one.
      let run = Data(repeating: 6, count: 64)
      var place = data.startIndex
      while let found = data.range(of: run, in: place..<data.endIndex) {
        data[found.lowerBound] = 7
        place = found.upperBound
      }
    }
    #expect(try verify(cache, errors: 1)[0].contains("The cache entry split cannot be read: its checksum is wrong"))
  }

  @Test func orphansAreARemark() throws {
    try fill()
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(files)/00000000000000aa"))
    try Data([1]).write(to: URL(fileURLWithPath: "\(files)/notes.txt"))
    let lines = try verify(cache, errors: 0)
    #expect(lines.count == 1 && lines[0].contains("no entry names 1 file of 3 B, such as 00000000000000aa"))
    #expect(try Tool.kvdump("cache", "verify", "-q", cache).errors.isEmpty)
  }

  @Test func recoverSavesTheRecordsWhereFilesCannotBeRead() throws {
    try fill()
    try FileManager.default.removeItem(atPath: files)
    try Data([1]).write(to: URL(fileURLWithPath: files))
    let new = "\(folder.path)/new"
    let recover = try Tool.kvdump("recover", cache, "-o", new)
    #expect(recover.status == 1 && recover.errors.isEmpty, "\(recover.errors)")
    #expect(recover.output.contains("not copied: \(files) is not a directory, and should be\n"), "\(recover.output)")
    #expect(try Tool.kvdump("diff", cache, new).status == 0)
    #expect(try Tool.kvdump("copy", cache, "\(folder.path)/copy").status == 74)
  }

  @Test func aCopyHasTheFiles() throws {
    try fill()
    for options in [[], ["--compact"]] {
      let target = "\(folder.path)/copy\(options.count)"
      let copy = try Tool.kvdump(["copy", cache, target] + options)
      #expect(copy.status == 0 && copy.errors.contains(", with 2 files"), "\(copy.errors)")
      #expect(try verify(target, errors: 0) == [])
      let there = try DiskCache.open(at: target)
      #expect(try there.value(forKey: "large")?.count == 2_500_000)
    }
    #expect(try Tool.kvdump("recover", cache, "-o", "\(folder.path)/recovered").status == 0)
    #expect(try verify("\(folder.path)/recovered", errors: 0) == [])
  }
}
