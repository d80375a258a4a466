import Holdfast
import TestSupport
import Testing

/// What an app makes of the outbox's values in its own tests, with what is public alone.
@Suite struct OutboxValueTests {
  private struct Refusing: OutboxSender {
    func send(_ entry: OutboxEntry) async throws -> SendOutcome {
      entry.priority == .high ? .delivered(reply: []) : .permanent(reason: "no")
    }
  }

  @Test func prioritiesAreOrderedAsTheirNamesSay() {
    #expect(DeliveryPriority.high > .normal && DeliveryPriority.normal > .background)
    #expect(DeliveryPriority.allCases.sorted(by: >) == [.high, .normal, .background])
    #expect(DeliveryPriority.allCases.map(\.rawValue) == [1, 2, 3], "the bytes on disk")
  }

  @Test func whatIsReturnedCanBeComparedWith() async throws {
    let directory = TemporaryDirectory()
    let store = try Store.open(at: "\(directory.path)/store")
    let ids = try await store.write { t in
      try [DeliveryPriority.high, .normal].map { priority in
        OutboxRequest(kind: "k", payload: [], priority: priority)
      }.map { try store.outbox.enqueue($0, in: &t) }
    }
    #expect(try store.outbox.counts() == Outbox.Counts(pending: 2))
    var metrics = try store.outbox.metrics()
    metrics.oldestCreatedAt = nil
    #expect(metrics == Outbox.Metrics(pending: 2, offered: 2, journalRecords: 2))
    #expect(try await store.outbox.drain(with: Refusing()) == Outbox.DrainReport(delivered: 1, died: 1))
    #expect(try store.outbox.counts() == Outbox.Counts(dead: 1))
    let letter = try #require(try store.outbox.deadEntry(ids[1]))
    #expect(letter == DeadEntry(entry: letter.entry, reason: "no", diedAt: letter.diedAt))
  }

  @Test func anEntryIsMadeWithoutAStore() throws {
    let entry = OutboxEntry(OutboxRequest(kind: "k", payload: [1]), id: EntryID(rawValue: 7))
    let pending = PendingEntry(entry, phase: .held, attempts: 2, lastError: "no")
    #expect(pending.id == entry.id && pending.phase == .held && pending.attempts == 2 && pending.lastError == "no")
    #expect(try pending.entry.get() == entry)
    let record = JournalRecord(sequence: 1, kind: .died, entry: entry.id, attempt: 2, reason: "no")
    #expect(record.sequence == 1 && record.entry == entry.id && record.attempt == 2 && record.reason == "no")
  }
}
