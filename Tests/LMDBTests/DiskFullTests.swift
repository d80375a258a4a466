import Foundation
import LMDB
import TestSupport
import Testing

/// Real limits, as opposed to calls that fail on demand.
@Suite struct DiskFullTests {
  /// Writes until something fails, makes room, and writes again.
  static func fill(_ path: String, makeRoom: () -> Void) throws {
    let (environment, a) = try Environment.make(at: path, .init(durability: .relaxed))
    var written = 0
    var failure: StoreError?
    while failure == nil && written < 10_000 {
      do {
        try environment.write { try $0.set([UInt8](repeating: 1, count: 3000), forKey: "\(written)", in: a) }
        written += 1
      } catch { failure = error as? StoreError }
    }
    #expect(failure?.code == .diskFull, "\(String(describing: failure))")
    #expect(written > 10)
    let entries = try environment.statistics(of: a).entries
    #expect(entries == written)
    try environment.verify()
    makeRoom()
    try environment.write { t in for n in 0..<10 { try t.removeValue(forKey: "\(n)", in: a) } }
    try environment.set("more", "k", in: a)
    try environment.verify()
  }

  @Test func limitOnFileSizes() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      limitFileSize(to: 300 << 10)
      try DiskFullTests.fill(scratch()) { limitFileSize(to: 10 << 20) }
    }
  }

  @Test(.enabled(if: getuid() == 0, "only root can mount a small file system"))
  func fullFileSystem() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      guard Mount.temporary(at: scratch.path, size: "600k") else {
        return print("skipped: this process may not mount")
      }
      defer { Mount.remove(scratch.path) }
      try Data(count: 200 << 10).write(to: URL(filePath: scratch("ballast")))
      try DiskFullTests.fill(scratch()) { try? FileManager.default.removeItem(atPath: scratch("ballast")) }
    }
  }

  /// With room for the files of a copy and some of its content.
  @Test(.enabled(if: getuid() == 0, "only root can mount a small file system"))
  func compactingOnAFullFileSystemSaysSo() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      guard Mount.temporary(at: scratch.path, size: "700k") else {
        return print("skipped: this process may not mount")
      }
      defer { Mount.remove(scratch.path) }
      let (environment, a) = try Environment.make(at: scratch())
      try environment.write { t in
        for n in 0..<60 { try t.set([UInt8](repeating: 1, count: 4000), forKey: "\(n)", in: a) }
      }
      try Data(count: 200 << 10).write(to: URL(filePath: scratch("ballast")))
      #expect(code { try environment.compact() } == .diskFull)
      #expect(code { try environment.copy(to: scratch("copy"), compact: true) } == .diskFull)
      #expect(try Set(FileManager.default.contentsOfDirectory(atPath: scratch.path)) == ["env", "ballast"])
      #expect(try environment.read { $0.bytes("59", in: a)?.count } == 4000)
      try FileManager.default.removeItem(atPath: scratch("ballast"))
      try environment.compact()
      try environment.verify()
    }
  }

  @Test(.enabled(if: getuid() == 0, "only root can mount a small file system"))
  func aLoadOnAFullFileSystemSaysSo() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      guard Mount.temporary(at: scratch.path, size: "600k") else {
        return print("skipped: this process may not mount")
      }
      defer { Mount.remove(scratch.path) }
      let failure = #expect(throws: StoreError.self) {
        var loader = try BulkLoader(scratch.path, isFile: false, mapSize: 1 << 20)
        let target = try loader.database(nil, flags: 0)
        for index in 0..<2000 {
          let key = Array("\(index)".utf8)
          let value = [UInt8](repeating: 1, count: 1000)
          try loader.put(key.span, value.span, in: target, .replace)
        }
        try loader.finish()
      }
      #expect(failure?.code == .diskFull && failure?.message.contains("\(scratch.path)/data.mdb") == true)
      let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
      #expect(left == [])
    }
  }

  /// LMDB writes to a map of its lock file, which is a bus error if the file system has no page for it.
  @Test(.enabled(if: getuid() == 0, "only root can mount a small file system"))
  func fullFileSystemHasRoomForReaders() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryDirectory()
      guard Mount.temporary(at: scratch.path, size: "600k") else {
        return print("skipped: this process may not mount")
      }
      defer { Mount.remove(scratch.path) }
      do {
        let (environment, a) = try Environment.make(at: scratch())
        try environment.set("value", "k", in: a)
      }
      try FileManager.default.removeItem(atPath: scratch("env/lock.mdb"))
      DiskFullTests.fillUp(scratch("ballast"))
      let failure = #expect(throws: StoreError.self) { try Environment.make(at: scratch()) }
      #expect(failure?.code == .diskFull && failure?.message.contains("lock.mdb") == true)
      try FileManager.default.removeItem(atPath: scratch("ballast"))
      let (environment, a) = try Environment.make(at: scratch())
      DiskFullTests.fillUp(scratch("ballast"))
      // Far more than the first page of the table holds.
      try DiskFullTests.nest(400, environment) {
        let value = try environment.text("k", in: a)
        #expect(value == "value")
      }
    }
  }

  /// Writes a file until there is no room for another byte.
  static func fillUp(_ path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(descriptor) }
    let page = [UInt8](repeating: 1, count: 4096)
    while unsafe write(descriptor, page, page.count) > 0 {}
  }

  static func nest(_ depth: Int, _ environment: Environment, _ body: () throws -> Void) throws {
    if depth == 0 { return try body() }
    try environment.read { _ in try nest(depth - 1, environment, body) }
  }
}
