import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct ObservationTests {
  private let fixture = StateFixture()

  private func updateInAnotherProcess(_ value: Int) async {
    await #expect(processExitsWith: .success) { [path = fixture.path as String, value = value as Int] in
      let store = try Store.open(at: path)
      try store.update("post:1", ["a": .int(Int64(value))])
      exit(0)
    }
  }

  @Test func updatesBeginWithThePresentAndTellOnlyWhatDiffers() async throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1])
    var updates = store.state.updates(for: ["post:1", "user:1"]).makeAsyncIterator()
    #expect(try await updates.next() == ["a": 1])
    try store.update("other:1", ["a": 5])
    try store.update("post:1", ["a": 1])
    try store.update("user:1", ["b": 2])
    #expect(try await updates.next() == ["a": 1, "b": 2])
    for n in 1...5 { try store.update("user:1", ["b": .int(Int64(n))]) }
    #expect(try await updates.next() == ["a": 1, "b": 5], "what was in between is left out")
    try store.state.session.update("post:1", ["a": 7])
    #expect(try await updates.next() == ["a": 7, "b": 5])
    try store.update("other:1", ["a": 6])
    async let next = updates.next()
    for _ in 0..<1000 { await Task.yield() }
    try store.update("user:1", ["b": 8])
    #expect(try await next == ["a": 7, "b": 8], "what others change is no update")
  }

  @Test func aWaitingReaderIsWokenByTheCommit() async throws {
    let store = try fixture.open()
    let updates = store.state.updates(for: ["post:1"])
    let reader = Task {
      var found: [FieldMap] = []
      for try await fields in updates {
        found.append(fields)
        if fields["a"] == 50 { break }
      }
      return found
    }
    for n in 1...50 {
      try await store.write { try store.state.update("post:1", ["a": .int(Int64(n))], in: &$0) }
    }
    let found = try await reader.value
    #expect(found.last == ["a": 50])
    let numbers = found.compactMap { $0["a"]?.intValue }
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
  }

  @Test func anyPollIntervalIsTaken() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      for interval in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
        let store = try Store.open(at: "\(directory.path)/store", state: StateOptions(pollInterval: interval))
        try store.commit { _ = try store.state.remove("post:1", in: &$0) }
        var updates = store.state.updates(for: ["post:1"]).makeAsyncIterator()
        #expect(try await updates.next() == [:])
        async let next = updates.next()
        for _ in 0..<1000 { await Task.yield() }
        try store.update("post:1", ["a": 1])
        #expect(try await next == ["a": 1])
      }
    }
  }

  /// What an app has noted of a store that was restored from a copy, or begun anew.
  @Test func aStampThatIsYetToComeIsToldAsMissed() async throws {
    let store = try fixture.open()
    var changes = try store.state.changes(after: 1000).makeAsyncIterator()
    for n in 1...3 { try store.update("post:1", ["a": .int(Int64(n))]) }
    #expect(try await changes.next() == .lagged(missed: 3))
    try store.update("post:1", ["a": 4])
    #expect(try await changes.next() == .record("post:1", fields: ["a"], stamp: 4))
  }

  @Test func aWriteThatIsTakenBackIsNoUpdate() async throws {
    struct Stop: Error {}
    let store = try fixture.open()
    var updates = store.state.updates(for: ["post:1"]).makeAsyncIterator()
    #expect(try await updates.next() == [:])
    #expect(throws: Stop.self) {
      try store.commit { t in
        try store.state.update("post:1", ["a": 1], in: &t)
        throw Stop()
      }
    }
    try store.update("post:1", ["a": 2])
    #expect(try await updates.next() == ["a": 2])
  }

  @Test func readersOfAnotherProcessAreToldByThePoll() async throws {
    let store = try fixture.open()
    var updates = store.state.updates(for: ["post:1"]).makeAsyncIterator()
    var changes = try store.state.changes().makeAsyncIterator()
    #expect(try await updates.next() == [:])
    await updateInAnotherProcess(3)
    async let update = updates.next()
    await fixture.wake()
    #expect(try await update == ["a": 3])
    #expect(try await changes.next() == .record("post:1", fields: ["a"], stamp: 1))
  }

  @Test func whatExpiresIsAnUpdate() async throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1], expires: .after(.seconds(1)))
    var updates = store.state.updates(for: ["post:1"]).makeAsyncIterator()
    #expect(try await updates.next() == ["a": 1])
    async let update = updates.next()
    fixture.advance(1000)
    await fixture.wake()
    #expect(try await update == [:])
  }

  @Test func whatIsThereAgainWhenTheClockIsSetBackIsAnUpdate() async throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1], expires: .after(.seconds(1)))
    fixture.advance(1000)
    var updates = store.state.updates(for: ["post:1"]).makeAsyncIterator()
    #expect(try await updates.next() == [:])
    async let update = updates.next()
    fixture.advance(-500)
    await fixture.wake()
    #expect(try await update == ["a": 1])
  }

  @Test func aCancelledReaderEnds() async throws {
    let store = try fixture.open()
    let updates = store.state.updates(for: ["post:1"])
    let changes = try store.state.changes()
    let readers = Task {
      async let a = updates.reduce(0) { count, _ in count + 1 }
      async let b = changes.reduce(0) { count, _ in count + 1 }
      return try await (a, b)
    }
    await fixture.wake()
    readers.cancel()
    #expect(try await readers.value == (1, 0))
  }

  @Test func aReaderOfAClosedStoreIsTold() async throws {
    let store = try fixture.open()
    var updates = store.state.updates(for: ["post:1"]).makeAsyncIterator()
    #expect(try await updates.next() == [:])
    let next = Task { [updates] in
      var updates = updates
      return try await updates.next()
    }
    try store.close()
    await fixture.wake()
    await #expect { try await next.value } throws: { ($0 as? StoreError)?.code == .closed }
  }

  @Test func changesNameKeysFieldsAndStamps() async throws {
    let store = try fixture.open()
    let long = StateKey(type: "t", id: String(repeating: "x", count: 5000))
    var changes = try store.state.changes().makeAsyncIterator()
    try store.commit { t in
      try store.state.update("a:1", ["x": 1, "y": nil], in: &t)
      try store.state.update(long, ["x": 1], in: &t)
    }
    try store.commit { t in
      try store.state.replace("a:1", with: ["z": 1], in: &t)
      try store.state.remove("a:1", in: &t)
      try store.state.remove("a:1", in: &t)
      try store.state.update("b:1", ["b": 1], in: &t)
      try store.state.removeAll(type: "b", in: &t)
      try store.state.removeAll(type: "b", in: &t)
      try store.state.removeAll(in: &t)
      try store.state.removeAll(in: &t)
    }
    var found: [StateChange] = []
    for _ in 0..<7 { found.append(try #require(try await changes.next())) }
    #expect(
      found == [
        .record("a:1", fields: ["x", "y"], stamp: 1), .record(long, fields: ["x"], stamp: 2),
        .record("a:1", fields: ["x", "z"], stamp: 3), .record("a:1", fields: ["z"], stamp: 4),
        .record("b:1", fields: ["b"], stamp: 5), .removedAll(type: "b", stamp: 6), .removedEverything(stamp: 7),
      ])
    var again = try store.state.changes(after: 5).makeAsyncIterator()
    #expect(try await again.next() == .removedAll(type: "b", stamp: 6))
  }

  @Test func manyNamesAreNotListed() async throws {
    let store = try fixture.open()
    let many = FieldMap(sorted: (0..<1000).map { FieldMap.Field(String(10_000 + $0), .null) })
    try store.update("a:1", FieldChanges(many))
    var changes = try store.state.changes(after: 0).makeAsyncIterator()
    #expect(try await changes.next() == .record("a:1", fields: nil, stamp: 1))
  }

  @Test func aReaderThatFallsBehindIsTold() async throws {
    let store = try fixture.open()
    var changes = try store.state.changes().makeAsyncIterator()
    try store.commit { t in
      for n in 0..<5000 { try store.state.update("a:1", ["n": .int(Int64(n))], in: &t) }
    }
    // 4096 and what has not been removed with others yet.
    let missed = 5000 - 4096 - 5000 % 64
    #expect(try await changes.next() == .lagged(missed: UInt64(missed)))
    for stamp in missed + 1...5000 {
      #expect(try await changes.next() == .record("a:1", fields: ["n"], stamp: UInt64(stamp)))
    }
    try store.state.verify()
  }
}
