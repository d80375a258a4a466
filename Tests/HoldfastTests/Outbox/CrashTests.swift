import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// The process is killed at a named step, and the store is opened again.
@Suite struct CrashTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/store" }

  /// SIGKILL, from inside: nothing of the process runs after it.
  private static func die() -> Never {
    kill(getpid(), SIGKILL)
    while true { pause() }
  }

  private static func add(_ store: Store, _ id: String, dyingAt step: Step) throws {
    let image = try store.outbox.stage([1, 2, 3], name: "i.png", mediaType: "image/png")
    if step == .staged { die() }
    try store.write { t in
      try store.state.update(StateKey(type: "comment", id: id), ["state": "waiting"], in: &t)
      try store.outbox.enqueue(
        OutboxRequest(kind: "k", lane: "lane", payload: Array(id.utf8), attachments: [image]), in: &t)
      if step == .inEnqueue { die() }
    }
    if step == .afterEnqueue { die() }
  }

  enum Step: String, CaseIterable, Codable, Sendable {
    case staged, inEnqueue, afterEnqueue, inSend, inSettle, afterSettle, inRollback
  }

  private static func hooks(_ store: Store, dyingAt step: Step) -> OutboxHooks {
    OutboxHooks(
      onCommit: { entry, _, t in
        try store.state.update(StateKey(type: "comment", id: entry.text), ["state": "sent"], in: &t)
        if step == .inSettle { die() }
        if step == .afterSettle { t.afterCommit { die() } }
      },
      onRollback: { entry, _, t in
        try store.state.update(StateKey(type: "comment", id: entry.text), ["state": "failed"], in: &t)
        if step == .inRollback { die() }
      })
  }

  @Test(arguments: Step.allCases) func stateAndOutboxAgreeAfterAKill(at step: Step) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Step] in
      let store = try Store.open(at: path)
      try Self.add(store, "1", dyingAt: step)
      let sender = ScriptedSender { _, _ in
        if step == .inSend { Self.die() }
        return step == .inRollback ? .permanent(reason: "no") : .delivered(reply: [])
      }
      try await store.outbox.drain(with: sender, hooks: Self.hooks(store, dyingAt: step))
    }
    let store = try Store.open(at: path)
    let state = try store.state.merged(["comment:1"])["state"]
    let pending = try store.outbox.pendingEntries(limit: 10)
    switch step {
    case .staged, .inEnqueue:
      #expect(state == nil && pending.isEmpty, "neither the state nor the request may be there")
    case .afterEnqueue:
      #expect(state == "waiting" && pending.map(\.phase) == [.waiting] && pending[0].attempts == 0)
    case .inSend, .inSettle, .inRollback:
      #expect(state == "waiting" && pending.map(\.phase) == [.inFlight] && pending[0].attempts == 1)
    case .afterSettle:
      #expect(state == "sent" && pending.isEmpty)
    }
    let key = try pending.first?.entry.get().idempotencyKey
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender, hooks: Self.hooks(store, dyingAt: .staged))
    #expect(sender.sent.map(\.idempotencyKey) == [key].compactMap { $0 }, "what is left is sent again under its key")
    #expect(try store.state.merged(["comment:1"])["state"] == (pending.isEmpty ? state : "sent"))
    #expect(try store.outboxRows().isEmpty)
    #expect(try FileSystem.names(in: "\(path)/attachments").isEmpty, "no file is left over")
  }

  @Test func aStagedFileOfALivingProcessIsNotAnOrphan() async throws {
    let store = try Store.open(at: path)
    let image = try store.outbox.stage([1, 2, 3], name: "i.png", mediaType: "image/png")
    try await store.outbox.drain(with: ScriptedSender())
    try await store.write { t in
      _ = try store.outbox.enqueue(
        OutboxRequest(kind: "k", lane: "l", payload: [], attachments: [image]), in: &t)
    }
    let files = Monitor<[Int]>([])
    let sender = ScriptedSender { entry, _ in
      let data = try Data(contentsOf: URL(fileURLWithPath: entry.attachments[0].path))
      files.update { $0.append(data.count) }
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender)
    #expect(files.update { $0 } == [3])
  }

  @Test func anAttachmentWithoutACommitIsRemovedAtOnce() throws {
    struct Stop: Error {}
    let store = try Store.open(at: path)
    #expect(throws: Stop.self) {
      let image = try store.outbox.stage([1], name: "i.png", mediaType: "image/png")
      try store.write { t in
        try store.outbox.enqueue(
          OutboxRequest(kind: "k", lane: "l", payload: [], attachments: [image]), in: &t)
        throw Stop()
      }
    }
    #expect(try FileSystem.names(in: "\(path)/attachments").isEmpty)
  }

  @Test func aSecondProcessMayEnqueueButNotDrain() async throws {
    let store = try Store.open(at: path)
    try store.enqueue(["1"])
    let sender = ScriptedSender { [path] entry, _ in
      if entry.text == "1" {
        await #expect(processExitsWith: .success) { [path = path as String] in
          let store = try Store.open(at: path)
          try store.enqueue(["2"], lane: "other")
          do {
            try await store.outbox.drain(with: ScriptedSender())
            exit(1)
          } catch let error as StoreError where error.code == .busy {
            exit(0)
          }
        }
      }
      return .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1", "2"])
  }
}
