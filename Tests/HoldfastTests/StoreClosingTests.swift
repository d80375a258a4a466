import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// A store that is closed, as before an app is suspended, and opened again.
@Suite struct StoreClosingTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()
  private var path: String { "\(directory.path)/store" }

  private func open() throws -> Store { try Store.open(at: path, time: time.time) }

  private func isClosed(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch { return (error as? StoreError)?.code == .closed }
  }

  @Test func whatIsThereStaysAndTheRestThrows() async throws {
    let store = try open()
    let other = try open()
    try store.commit { t in try store.state.update("post:1", ["a": 1], in: &t) }
    try store.enqueue(["1"])
    try store.close()
    try store.close()
    for store in [store, other] {
      #expect(isClosed { _ = try store.state.merged(["post:1"]) })
      #expect(isClosed { _ = try store.outbox.counts() })
      #expect(isClosed { try store.commit { _ in } })
      await #expect { try await store.write { _ in } } throws: { ($0 as? StoreError)?.code == .closed }
      await #expect {
        _ = try await store.outbox.drain(with: ScriptedSender())
      } throws: {
        ($0 as? StoreError)?.code == .closed
      }
    }
    let again = try open()
    #expect(try again.state.merged(["post:1"]) == ["a": 1])
    #expect(try await again.outbox.drain(with: ScriptedSender()).delivered == 1)
  }

  #if os(Linux)
    /// Whoever has a locked file open while it is suspended is ended.
    @Test func noFileStaysOpen() throws {
      let store = try open()
      try store.enqueue(["1"])
      func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0.hasPrefix(path) }
      }
      #expect(try !files().isEmpty)
      try store.close()
      #expect(try files() == [])
      withExtendedLifetime(store) {}
    }
  #endif

  @Test func aDrainThatRunsThrowsAndTheNextOneSendsAgain() async throws {
    let store = try open()
    try store.enqueue(["1", "2"])
    let sender = ScriptedSender { _, _ in
      try store.close()
      return .delivered(reply: [])
    }
    await #expect {
      _ = try await store.outbox.drain(with: sender)
    } throws: {
      ($0 as? StoreError)?.code == .closed
    }
    let next = ScriptedSender()
    #expect(try await open().outbox.drain(with: next).delivered == 2)
    #expect(next.sent.map(\.text) == ["1", "2"])
    #expect(next.sent.first?.idempotencyKey == sender.sent.first?.idempotencyKey && sender.sent.count == 1)
  }
}
