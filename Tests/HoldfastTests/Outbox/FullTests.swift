import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct FullTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  private func openSmall() throws -> Store {
    try Store.open(
      at: "\(directory.path)/store", time: time.time,
      options: .init(durability: .unsafeNoSync, mapSize: 4 << 20, mapSizeLimit: 4 << 20))
  }

  @Test("T13: a full outbox refuses new entries, and everything in it can still be settled, cancelled and given up")
  func aFullOutboxDrains() async throws {
    let store = try openSmall()
    var ids: [EntryID] = []
    let error = #expect(throws: StoreError.self) {
      for n in 0..<100_000 {
        ids.append(
          try store.enqueue("\(n)", lane: "\(n % 50)") { $0.payload += [UInt8](repeating: 0, count: 2000) })
      }
    }
    #expect(error?.code == .outboxFull && error?.code.remedy == .makeRoom)
    #expect(ids.count > 200)
    #expect(try store.outbox.counts().pending == ids.count, "nothing is half-written")
    #expect(try store.outbox.verify().problems == [])
    try await store.write { [ids] t in
      for id in ids.prefix(20) { _ = try store.outbox.cancel(.entry(id), in: &t) }
    }
    let sender = ScriptedSender { entry, _ in
      entry.id.rawValue % 10 == 0 ? .permanent(reason: "http 400") : .delivered(reply: [])
    }
    let report = try await store.outbox.drain(with: sender)
    #expect(report.delivered + report.died == ids.count - 20)
    try store.enqueue(["again"])
    #expect(try store.outbox.verify().problems == [])
  }

  @Test("T13: one large transaction cannot eat what is kept for settling")
  func aLargeTransactionIsRefused() throws {
    let store = try openSmall()
    let error = #expect(throws: StoreError.self) {
      try store.write { t in
        for _ in 0..<10_000 {
          try store.outbox.enqueue(OutboxRequest(kind: "k", payload: [UInt8](repeating: 1, count: 3000)), in: &t)
        }
      }
    }
    #expect(error?.code == .outboxFull)
    #expect(try store.outboxRows().isEmpty)
    try store.enqueue(["1"])
  }

  @Test("T13: neither can the state, and what it has can be removed")
  func aFullStateLeavesRoom() async throws {
    let store = try openSmall()
    let hooks = OutboxHooks(onCommit: { [state = store.state] entry, _, t in
      try state.update(StateKey(type: "sent", id: entry.text), ["is": true], in: &t)
    })
    let count = 200
    for n in 0..<count { try store.enqueue("\(n)", lane: "\(n % 20)") { _ in } }
    var records = 0
    let error = #expect(throws: StoreError.self) {
      while records < 100_000 {
        try store.update(StateKey(type: "t", id: "\(records)"), ["a": .bytes([UInt8](repeating: 1, count: 2000))])
        records += 1
      }
    }
    #expect(error?.code == .mapFull && error?.message.contains("remove something") == true && records > 10)
    #expect(try await store.outbox.drain(with: ScriptedSender(), hooks: hooks).delivered == count)
    try await store.write { t in try store.state.removeAll(type: "t", in: &t) }
    try store.update("t:again", ["a": 1])
    #expect(try store.outbox.verify().problems == [])
  }

  @Test("T21: how many commits an entry costs")
  func commitsAreCounted() async throws {
    let store = try open()
    func commits(_ body: () async throws -> Void) async throws -> Int {
      let before = try store.environment.lastTransactionID
      try await body()
      return try store.environment.lastTransactionID - before
    }
    #expect(try await commits { try store.enqueue(["1"], lane: "a") } == 1)
    let batch = try await commits {
      try store.write { t in
        for n in 0..<100 { try store.outbox.enqueue(OutboxRequest(kind: "k", lane: "\(n)", payload: []), in: &t) }
      }
    }
    #expect(batch == 1)
    let drain = try await commits {
      try await store.outbox.drain(with: ScriptedSender(), options: .init(concurrency: 1, pollInterval: nil))
    }
    #expect(
      drain <= 101 + 1,
      "settling one and claiming the next is one commit, as are the start of the drain and its first claim")
    let idle = try await commits {
      try await store.outbox.drain(with: ScriptedSender(), options: .init(pollInterval: nil))
    }
    #expect(idle == 0, "a drain that finds nothing writes nothing")
  }
}
