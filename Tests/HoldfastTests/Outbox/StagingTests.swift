import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Memory and files of attachments.
@Suite struct StagingTests {
  private let directory = TemporaryDirectory()

  @Test("T16: a file of 100 MB is staged without its bytes in memory")
  func aLargeFileIsStreamed() async throws {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let file = "\(path)/large"
      let megabyte = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      _ = FileManager.default.createFile(atPath: file, contents: nil)
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      for _ in 0..<100 { try handle.write(contentsOf: megabyte) }
      let store = try Store.open(at: "\(path)/store")
      _ = try store.outbox.stage([1], name: "warm", mediaType: "up")
      let before = try Self.peakMemory()
      let staged = try store.outbox.stage(fileAt: file, name: "large", mediaType: "b")
      let growth = try Self.peakMemory() - before
      precondition(staged.size == 100 << 20 && growth < 2 << 20, "memory grew by \(growth) bytes")
    }
  }

  /// The most memory that the process has had, in bytes.
  private static func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 } ?? 0
  }

  @Test func aStagedFileIsTheOriginal() async throws {
    let original = "\(directory.path)/original"
    let content = [UInt8]((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    try Data(content).write(to: URL(fileURLWithPath: original))
    let store = try Store.open(at: "\(directory.path)/store")
    let file = try store.outbox.stage(fileAt: original, name: "a.png", mediaType: "image/png")
    #expect(file.size == content.count)
    try store.enqueue("1") { $0.attachments = [file] }
    let sender = ScriptedSender { entry, _ in
      let sent = try Data(contentsOf: URL(fileURLWithPath: entry.attachments[0].path))
      return [UInt8](sent) == content ? .delivered(reply: []) : .permanent(reason: "not the original")
    }
    #expect(try await store.outbox.drain(with: sender).delivered == 1)
    #expect(FileManager.default.fileExists(atPath: original))
  }

  @Test func whatCannotBeStagedLeavesNothing() throws {
    let store = try Store.open(at: "\(directory.path)/store")
    for path in ["\(directory.path)/missing", directory.path] {
      #expect(throws: StoreError.self) { try store.outbox.stage(fileAt: path, name: "a", mediaType: "b") }
    }
    let folder = "\(directory.path)/store/attachments"
    #expect(try !FileSystem.exists(folder) || FileSystem.names(in: folder).isEmpty)
  }
}
