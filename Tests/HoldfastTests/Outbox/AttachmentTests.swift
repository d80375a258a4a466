import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct AttachmentTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func anAttachmentBelongsToOneRequest() async throws {
    let store = try open()
    let file = try store.outbox.stage([1], name: "a.png", mediaType: "image/png")
    let request = OutboxRequest(kind: "k", lane: "l", payload: [], attachments: [file])
    func enqueue(_ count: Int) throws {
      try store.write { t in
        for _ in 0..<count { try store.outbox.enqueue(request, in: &t) }
      }
    }
    #expect { try enqueue(2) } throws: { ($0 as? StoreError)?.code == .invalidValue }
    try enqueue(1)
    #expect { try enqueue(1) } throws: { ($0 as? StoreError)?.code == .invalidValue }
    try await store.outbox.drain(with: ScriptedSender())
    #expect { try enqueue(1) } throws: { ($0 as? StoreError)?.code == .invalidValue }
  }

  @Test func aSettleThatIsTakenBackKeepsTheFiles() async throws {
    struct Refusal: Error {}
    let store = try open()
    let file = try store.outbox.stage([1, 2], name: "a.png", mediaType: "image/png")
    try await store.write { t in
      _ = try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "l", payload: [], attachments: [file]), in: &t)
    }
    let sizes = Monitor<[Int]>([])
    let sender = ScriptedSender { entry, _ in
      let size = try File(entry.attachments[0].path, .read).size()
      sizes.update { $0.append(size) }
      return .delivered(reply: [])
    }
    let hooks = OutboxHooks(onCommit: { _, _, _ in throw Refusal() })
    #expect(try await store.outbox.drain(with: sender, hooks: hooks).held == 1)
    #expect(try await store.outbox.drain(with: sender).delivered == 1)
    #expect(sizes.update { $0 } == [2, 2])
    #expect(try FileSystem.names(in: "\(directory.path)/store/attachments").isEmpty)
  }
}
