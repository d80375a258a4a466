import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct OutboxLookUpTests {
  private let directory = TemporaryDirectory()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: TestTime().time) }

  @Test func anEntryIsFoundUntilItIsSettled() throws {
    let store = try open()
    let ids = try store.enqueue(["1", "2"])
    #expect(try ids.map { try store.outbox.pendingEntry($0) } == store.outbox.pendingEntries(limit: 9))
    #expect(try store.outbox.pendingEntry(EntryID(rawValue: 3)) == nil)
    let claim = try #require(try store.claimAnew())
    #expect(try store.outbox.pendingEntry(ids[0])?.phase == .inFlight)
    #expect(try store.outbox.pendingEntry(ids[1])?.phase == .waiting)
    try store.settle(claim, .delivered(reply: []))
    #expect(try store.outbox.pendingEntry(ids[0]) == nil)
    #expect(try store.outbox.deadEntry(ids[0]) == nil)
    #expect(try store.outbox.pendingEntry(ids[1])?.entry.get().text == "2")
  }

  @Test func aDeadLetterIsFoundUntilItIsSentAgain() throws {
    let store = try open()
    let id = try store.enqueue(["1", "2"])[0]
    #expect(try store.outbox.deadEntry(id) == nil)
    try store.settle(try #require(try store.claimAnew()), .permanent(reason: "no"))
    #expect(try store.outbox.pendingEntry(id) == nil)
    let letter = try #require(try store.outbox.deadEntry(id))
    #expect(letter.reason == "no" && letter.entry.text == "1")
    #expect(try store.outbox.deadEntries(limit: 9) == [letter])
    let again = try store.write { t in try store.outbox.requeue(id, in: &t) }
    #expect(try store.outbox.deadEntry(id) == nil)
    #expect(try store.outbox.pendingEntry(again)?.attempts == 1)
  }

  @Test func aTransactionSeesWhatItHasDone() throws {
    let store = try open()
    let dead = try store.enqueue(["1"])[0]
    try store.settle(try #require(try store.claimAnew()), .permanent(reason: "no"))
    let (new, before, after, letter) = try store.write { t in
      let new = try store.outbox.enqueue(OutboxRequest(kind: "k", payload: []), in: &t)
      let before = try store.outbox.pendingEntry(new, in: t.reader)?.phase
      try store.outbox.cancel(.entry(new), in: &t)
      let after = try store.outbox.pendingEntry(new, in: t.reader)
      try store.outbox.discard(dead, in: &t)
      return (new, before, after, try store.outbox.deadEntry(dead, in: t.reader))
    }
    #expect(before == .waiting && after == nil && letter == nil)
    #expect(try store.outbox.pendingEntry(new) == nil)
  }

  @Test func anEntryThatCannotBeReadIsFoundAsSuch() throws {
    let store = try open()
    let id = try store.enqueue(["1"])[0]
    try store.write { t in try t.set([0xFF], forKey: id.key, in: store.outbox.entries) }
    let found = try #require(try store.outbox.pendingEntry(id))
    #expect(found.phase == .held)
    #expect { try found.entry.get() } throws: { ($0 as? StoreError)?.code == .corruptRecord }
    #expect(try store.outbox.pendingEntries(limit: 9) == [found])
  }
}
