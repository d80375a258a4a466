import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct ReplayCursorTests {
  private let directory = TemporaryDirectory()

  private func store() throws -> Store { try Store.open(at: "\(directory.path)/store") }

  private func open(
    _ store: Store, _ name: String = "c", from start: ReplayCursor.Start = .start,
    kinds: Set<JournalRecord.Kind>? = nil, isRequired: Bool = true
  ) throws -> ReplayCursor {
    try store.write { t in
      try store.outbox.replayCursor(name, from: start, kinds: kinds, isRequired: isRequired, in: &t)
    }
  }

  private func commit(_ cursor: ReplayCursor, _ sequences: [UInt64], _ store: Store) throws {
    try store.write { t in try cursor.commit(sequences, in: &t) }
  }

  private func pending(_ cursor: ReplayCursor) throws -> [UInt64] { try cursor.next(limit: .max).map(\.sequence) }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  /// Adds records to the journal, one for each letter: an enqueue, or a claim for `c`.
  private func record(_ letters: String, _ store: Store) throws {
    for letter in letters {
      try store.write { t in
        try store.outbox.journal.append(
          letter == "c" ? .claimed : .enqueued, EntryID(rawValue: 1), at: 7, in: &t)
      }
    }
  }

  @Test func aFloorRisesOverWhatIsDoneWithInWhateverOrder() throws {
    let store = try store()
    try record("eeeee", store)
    let cursor = try open(store)
    #expect(try pending(cursor) == [1, 2, 3, 4, 5])
    #expect(try cursor.next(limit: 2).map(\.sequence) == [1, 2])
    #expect(try cursor.next(limit: 2, after: 2).map(\.sequence) == [3, 4])
    try commit(cursor, [2, 4], store)
    #expect(try pending(cursor) == [1, 3, 5])
    var position = try #require(try store.outbox.replayPositions().first)
    #expect(position.floor == 0 && position.acknowledgedAhead == 2)
    try commit(cursor, [1, 1, 2], store)
    #expect(try pending(cursor) == [3, 5])
    position = try #require(try store.outbox.replayPositions().first)
    #expect(position.floor == 2 && position.acknowledgedAhead == 1)
    try commit(cursor, [5, 3], store)
    position = try #require(try store.outbox.replayPositions().first)
    #expect(position.floor == 5 && position.acknowledgedAhead == 0)
    #expect(try store.outboxRows() == ["outbox.cursor": 1])
  }

  @Test func itIsNeverAheadOfTheJournal() throws {
    let store = try store()
    try record("e", store)
    let cursor = try open(store)
    #expect(code { try commit(cursor, [2], store) } == .invalidValue)
    #expect(code { try commit(cursor, [0], store) } == .invalidValue)
    #expect(code { _ = try open(store, "d", from: .at(3)) } == .invalidValue)
    #expect(code { _ = try open(store, "d", from: .at(0)) } == .invalidValue)
    #expect(try pending(open(store, "d", from: .at(2))) == [])
    // A journal from an older copy.
    try commit(cursor, [1], store)
    try store.write { t in _ = try t.removeAll(in: store.outbox.journal.rows) }
    #expect(code { _ = try open(store) } == .damaged)
    try store.write { t in _ = try store.outbox.removeReplayCursor("c", in: &t) }
    #expect(try pending(open(store)) == [])
  }

  @Test func theCommitAndItsEffectsAreOne() throws {
    struct Refusal: Error {}
    let store = try store()
    try record("ee", store)
    let cursor = try open(store)
    #expect(throws: Refusal.self) {
      try store.write { t in
        try cursor.commit(cursor.next(limit: 1), in: &t)
        throw Refusal()
      }
    }
    #expect(try pending(cursor) == [1, 2])
  }

  @Test func aCursorBeginsWhereItsTransactionStands() throws {
    let store = try store()
    try record("ee", store)
    let cursor = try store.write { t in
      try store.outbox.journal.append(.enqueued, EntryID(rawValue: 1), at: 0, in: &t)
      let cursor = try store.outbox.replayCursor("c", from: .now, in: &t)
      try store.outbox.journal.append(.enqueued, EntryID(rawValue: 1), at: 0, in: &t)
      return cursor
    }
    #expect(try pending(cursor) == [4])
    #expect(try pending(open(store, "d", from: .at(2))) == [2, 3, 4])
    #expect(try pending(open(store, from: .start)) == [4], "one that exists stays where it is")
  }

  @Test func whoOpensItLastIsItsOneCommitter() throws {
    let store = try store()
    try record("ee", store)
    let old = try open(store)
    let new = try open(store)
    #expect(code { try commit(old, [1], store) } == .busy)
    #expect(code { try store.write { t in try old.seek(to: .now, in: &t) } } == .busy)
    try commit(new, [1], store)
    try store.write { t in _ = try store.outbox.removeReplayCursor("c", in: &t) }
    #expect(code { try commit(new, [1], store) } == .notFound)
    #expect(code { _ = try new.next(limit: 1) } == .notFound)
    _ = try open(store)
    #expect(code { try commit(new, [1], store) } == .busy, "also when it was made anew")
  }

  @Test func onlyTheWantedKindsAreSeen() throws {
    let store = try store()
    try record("eccec", store)
    let cursor = try open(store, kinds: [.enqueued])
    #expect(try pending(cursor) == [1, 4])
    try commit(cursor, [1, 2], store)
    #expect(try store.outbox.replayPositions()[0].floor == 3, "over what is not wanted")
    try commit(cursor, [4], store)
    #expect(try store.outbox.replayPositions()[0].floor == 5)
    #expect(code { _ = try open(store, kinds: [.claimed]) } == .invalidOption)
    #expect(code { _ = try open(store) } == .invalidOption)
  }

  @Test(arguments: ["", String(repeating: "é", count: 101)]) func namesAreChecked(_ name: String) throws {
    let store = try store()
    #expect(code { _ = try open(store, name) } == .invalidValue)
  }

  @Test func aSeekIsWrittenDown() throws {
    let store = try store()
    try record("eeee", store)
    let cursor = try open(store)
    try commit(cursor, [1, 2, 4], store)
    try store.write { t in try cursor.seek(to: .start, in: &t) }
    #expect(try pending(cursor) == [1, 2, 3, 4], "what was done with ahead is forgotten")
    let record = try #require(try store.journal().last)
    #expect(record.kind == .cursorMoved && record.reason == "c: from 2 to 0")
    try store.write { t in try cursor.seek(to: .now, in: &t) }
    #expect(try pending(cursor) == [])
    #expect(try store.outbox.replayPositions()[0].floor == 5)
  }

  @Test func oneUnreadableRecordDoesNotHoldUpTheRest() throws {
    let store = try store()
    try record("eee", store)
    let cursor = try open(store)
    try store.write { t in
      let key = UInt64(2).bigEndianBytes
      try t.set([99], forKey: key, in: store.outbox.journal.rows)
    }
    #expect(code { _ = try cursor.next(limit: 9) } == .corruptRecord)
    try commit(cursor, [2], store)
    #expect(try pending(cursor) == [1, 3])
  }

  @Test func whatDoesNotAgreeIsFound() throws {
    let store = try store()
    try record("eee", store)
    let cursor = try open(store)
    try commit(cursor, [2], store)
    func problems() throws -> [ReplayCursorTable.Problem] {
      try store.read { t in try store.outbox.cursors.problems(store.outbox.journal, in: t) }
    }
    #expect(try problems().isEmpty)
    let acknowledgements = store.outbox.cursors.acknowledgements
    let strays: [[UInt8]] = [UInt64(1).bigEndianBytes + UInt64(9).bigEndianBytes, [1], Array(repeating: 0, count: 16)]
    for key in strays { try store.write { t in try t.set([], forKey: key, in: acknowledgements) } }
    #expect(Set(try problems().map(\.acknowledgement)) == Set(strays))
    try store.write { t in for key in strays { try t.remove(key, in: acknowledgements) } }
    try store.write { t in _ = try t.removeAll(in: store.outbox.journal.rows) }
    #expect(try problems().count == 1, "done with, but not there any more")
    try store.write { t in try t.set([99], forKey: Array("c".utf8), in: store.outbox.cursors.rows) }
    #expect(try problems().count == 2)
  }

  // MARK: Trimming

  private func trim(_ store: Store, minimum: Int, limit: Int) throws -> Outbox.JournalTrimming {
    try store.write { t in
      try store.outbox.trimJournal(JournalRetention(minimum: minimum, limit: limit), in: &t)
    }
  }

  private func kept(_ store: Store) throws -> [UInt64] { try store.journal().map(\.sequence) }

  @Test func theJournalIsKeptForThoseWhoNeedIt() throws {
    let store = try store()
    try record("eeeeeeeeee", store)
    let cursor = try open(store)
    let other = try open(store, "other", from: .at(7))
    _ = try open(store, "idle", isRequired: false)
    try commit(cursor, [1, 2, 3, 5], store)
    #expect(try trim(store, minimum: 10, limit: 100).removed == 0)
    let trimming = try trim(store, minimum: 2, limit: 100)
    #expect(trimming.removed == 3 && trimming.overrun == ["idle"], "it is not required")
    #expect(try kept(store) == Array(4...10))
    try commit(cursor, Array(4...10), store)
    #expect(try trim(store, minimum: 2, limit: 100).removed == 3)
    try commit(other, Array(7...10), store)
    #expect(try trim(store, minimum: 1, limit: 100).removed == 3)
    #expect(try kept(store) == [10])
    #expect(try trim(store, minimum: 0, limit: 0).removed == 0, "the last carries the number")
    try record("e", store)
    #expect(try pending(cursor) == [11])
  }

  @Test func whatIsNotWantedIsNotKept() throws {
    let store = try store()
    try record("ccccce", store)
    let cursor = try open(store, kinds: [.enqueued])
    #expect(try trim(store, minimum: 1, limit: 100) == Outbox.JournalTrimming(removed: 5))
    #expect(try pending(cursor) == [6])
  }

  @Test func anOverrunIsReportedUntilTheCursorIsSought() throws {
    let store = try store()
    try record("ececcec", store)
    let cursor = try open(store, kinds: [.enqueued])
    try commit(cursor, [3], store)
    #expect(try trim(store, minimum: 1, limit: 3) == Outbox.JournalTrimming(removed: 4, overrun: ["c"]))
    #expect(code { _ = try cursor.next(limit: 1) } == .cursorOverrun)
    #expect(try store.outbox.replayPositions()[0].missed == 1, "of 1 and 3, the latter was done with")
    #expect(try store.outbox.replayPositions()[0].floor == 5)
    try commit(cursor, [6], store)
    #expect(code { _ = try open(store, kinds: [.enqueued]).next(limit: 1) } == .cursorOverrun, "also after a reopening")
    let newest = try open(store, kinds: [.enqueued])
    #expect(code { try store.write { t in try newest.seek(to: .at(4), in: &t) } } == .cursorOverrun)
    try store.write { t in try newest.seek(to: .start, in: &t) }
    #expect(try pending(newest) == [6])
  }

  @Test func oneTrimmingIsBounded() throws {
    let store = try store()
    try store.write { t in
      for _ in 0..<Outbox.trimmingStep + 20 {
        try store.outbox.journal.append(.enqueued, EntryID(rawValue: 1), at: 0, in: &t)
      }
    }
    #expect(try trim(store, minimum: 10, limit: 100).removed == Outbox.trimmingStep)
    #expect(try trim(store, minimum: 10, limit: 100).removed == 10)
  }

  // MARK: Following

  @Test func aFollowerSeesWhatIsPendingAndThenWhatHappens() async throws {
    let store = try store()
    try record("ee", store)
    let cursor = try open(store)
    var batches = cursor.batches(limit: 2).makeAsyncIterator()
    #expect(try await batches.next()?.map(\.sequence) == [1, 2])
    let next = Task { [stream = cursor.batches(limit: 2)] in
      var seen: [UInt64] = []
      for try await batch in stream {
        seen += batch.map(\.sequence)
        if seen.count >= 4 { break }
      }
      return seen
    }
    try record("ee", store)
    #expect(try await batches.next()?.map(\.sequence).first == 3)
    #expect(try await next.value == [1, 2, 3, 4])
  }

  @Test func aCancelledFollowerEnds() async throws {
    let store = try store()
    let cursor = try open(store)
    let follower = Task {
      var count = 0
      for try await _ in cursor.batches() { count += 1 }
      return count
    }
    follower.cancel()
    #expect(try await follower.value == 0)
  }

  @Test func aFollowerOfAnotherProcessLooksFromTimeToTime() async throws {
    let path = "\(directory.path)/store"
    let naps = Monitor(0)
    let time = SystemTime(
      now: { 0 },
      sleep: { [path] duration in
        #expect(duration == .seconds(3))
        let count = naps.update { naps in
          naps += 1
          return naps
        }
        guard count == 2 else { return }
        await #expect(processExitsWith: .success) { [path = path as String] in
          let store = try Store.open(at: path)
          try store.write { t in _ = try store.outbox.journal.append(.enqueued, EntryID(rawValue: 1), at: 0, in: &t) }
        }
      })
    let store = try Store.open(at: path, time: time)
    let cursor = try open(store)
    var batches = cursor.batches(pollInterval: .seconds(3)).makeAsyncIterator()
    #expect(try await batches.next()?.map(\.sequence) == [1])
    #expect(naps.update { $0 } == 2)
  }

  @Test func theSendersOwnPositionIsRead() async throws {
    let store = try store()
    #expect(try store.outbox.settledThrough() == nil)
    let ids = try store.enqueue(["a", "b", "c"], lane: "1")
    #expect(try store.outbox.settledThrough() == nil)
    let sender = ScriptedSender { entry, _ in
      entry.text == "b" ? .unsendable(reason: "no") : .delivered(reply: [])
    }
    try await store.outbox.drain(with: sender)
    #expect(try store.outbox.settledThrough() == ids[0])
    try await store.outbox.drain(with: ScriptedSender())
    #expect(try store.outbox.settledThrough() == ids[2])
  }
}
