import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct EventTests {
  private let directory = TemporaryDirectory()
  private let time = TestTime()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store", time: time.time) }

  @Test func aListenerHearsALife() async throws {
    let store = try open()
    let events = store.outbox.events()
    let id = try store.enqueue(["1"])[0]
    try await store.outbox.drain(with: ScriptedSender())
    var heard: [OutboxEvent] = []
    for await event in events {
      heard.append(event)
      if heard.count == 2 { break }
    }
    #expect(heard == [.enqueued(id), .delivered(id)])
  }

  @Test func aSlowListenerIsToldWhatItMissed() async throws {
    let store = try open()
    let events = store.outbox.events(buffering: 2)
    let ids = try store.enqueue(["1", "2", "3", "4", "5"])
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next() == .enqueued(ids[0]))
    #expect(await iterator.next() == .enqueued(ids[1]))
    let more = try store.enqueue(["6"])
    #expect(await iterator.next() == .lagged(missed: 3))
    #expect(await iterator.next() == .enqueued(more[0]))
  }

  @Test func nothingIsToldOfWhatWasTakenBack() async throws {
    struct Stop: Error {}
    let store = try open()
    let events = store.outbox.events()
    #expect(throws: Stop.self) {
      try store.write { t in
        try store.outbox.enqueue(OutboxRequest(kind: "k", payload: []), in: &t)
        throw Stop()
      }
    }
    let id = try store.enqueue(["1"])[0]
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next() == .enqueued(id))
  }

  @Test func twoStoresOfOnePathWakeEachOthersDrain() async throws {
    let (store, other) = (try open(), try open())
    let events = other.outbox.events()
    let drain = Task {
      try await store.outbox.drain(with: ScriptedSender(), options: .init(goal: .forever, pollInterval: nil))
    }
    try other.enqueue(["1"])
    for await event in events {
      if case .delivered = event { break }
    }
    drain.cancel()
    #expect(try await drain.value.delivered == 1)
  }
}
