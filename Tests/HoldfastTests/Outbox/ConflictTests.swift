import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct ConflictTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func keepLeavesTheOneThatIsThere() async throws {
    let store = try open()
    let first = try store.enqueue("1") { $0.key = "k" }
    let second = try store.enqueue("2") {
      $0.key = "k"
      $0.conflict = .keep
    }
    #expect(second == first)
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1"])
    try store.enqueue("3") {
      $0.key = "k"
      $0.conflict = .keep
    }
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1", "3"], "what has been delivered is in nobody's way")
  }

  @Test func replaceTakesThePlaceOfWhatWasNotSent() async throws {
    let store = try open()
    let old = try ["1", "2"].map { text in try store.enqueue(text, lane: "a") { $0.key = "k" } }
    try store.enqueue("other", lane: "b") { $0.key = "K" }
    let new = try store.enqueue("3", lane: "b") {
      $0.key = "k"
      $0.conflict = .replace
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["other", "3"])
    let superseded = try store.journal().filter { $0.kind == .superseded }
    #expect(superseded.map(\.entry) == old && superseded.allSatisfy { $0.reason == "by \(new)" })
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func nothingThatMayHaveBeenSentIsReplaced() async throws {
    let store = try open()
    try store.enqueue("1", lane: "a") { $0.key = "k" }
    let first = ScriptedSender { _, _ in .transient(reason: "http 500") }
    try await store.outbox.drain(with: first, options: .init(goal: .once))
    try store.enqueue("2", lane: "a") {
      $0.key = "k"
      $0.conflict = .replace
    }
    let sender = ScriptedSender()
    try await store.outbox.drain(with: sender)
    #expect(sender.sent.map(\.text) == ["1", "2"])
    #expect(sender.sent[0].idempotencyKey == first.sent[0].idempotencyKey)
  }

  @Test(arguments: [ConflictPolicy.keep, .replace]) func aPolicyWithoutAKeyIsRefused(_ policy: ConflictPolicy) throws {
    let store = try open()
    let error = #expect(throws: StoreError.self) { try store.enqueue("1") { $0.conflict = policy } }
    #expect(error?.code == .invalidValue && error?.message.contains("set its `key`") == true)
    #expect(try store.outboxRows().isEmpty)
  }

  @Test func keysOfTwoQueuesAndUnequalKeysAreTwo() throws {
    let store = try open()
    for (queue, key) in [("", "k"), ("q", "k"), ("q", ""), ("", "qk")] {
      try store.enqueue("1") {
        ($0.queue, $0.key, $0.conflict) = (queue, key, .keep)
      }
    }
    #expect(try store.outbox.counts().pending == 4)
  }

  @Test func aReplacedEntryTakesItsFilesWithIt() throws {
    let store = try open()
    let file = try store.outbox.stage([1], name: "a", mediaType: "b")
    try store.enqueue("1") {
      $0.key = "k"
      $0.attachments = [file]
    }
    try store.enqueue("2") {
      $0.key = "k"
      $0.conflict = .replace
    }
    #expect(try FileSystem.names(in: "\(directory.path)/store/attachments").isEmpty)
  }

  @Test("T14: random programs of append, keep and replace leave what a naive twin says", arguments: 1...6)
  func policiesAgreeWithATwin(_ seed: UInt64) async throws {
    let store = try open()
    var random = Seeded(seed)
    var twin: [(key: String, text: String, maySent: Bool)] = []
    for step in 0..<120 {
      let key = ["a", "b", "c"].randomElement(using: &random)!
      let policy = [ConflictPolicy.append, .keep, .replace].randomElement(using: &random)!
      try store.enqueue("\(step)", lane: "one") { ($0.key, $0.conflict) = (key, policy) }
      let isThere = twin.contains { $0.key == key }
      if policy == .replace { twin.removeAll { $0.key == key && !$0.maySent } }
      if policy != .keep || !isThere { twin.append((key, "\(step)", false)) }
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let sender = ScriptedSender { _, count in count == 1 ? .ambiguous(reason: "lost") : .delivered(reply: []) }
        try await store.outbox.drain(with: sender, options: .init(goal: .once, concurrency: 1))
        twin[0].maySent = true
        time.pass(.seconds(3600))
      case 1:
        try await store.outbox.drain(with: ScriptedSender(), options: .init(goal: .idle))
        twin = []
      default: break
      }
      #expect(try store.outbox.pendingEntries(limit: 999).map { try $0.entry.get().text } == twin.map(\.text))
    }
  }
}
