import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Records written from values of one's own type, and observed as such.
@Suite struct StateValueTests {
  private struct Card: Codable, Equatable {
    var title: String
    var isFollowed: Bool?
  }

  private struct Empty: Encodable {}

  private let fixture = StateFixture()

  // MARK: Writing

  @Test func anUpdateFromAValueLeavesTheOtherFields() throws {
    let store = try fixture.open()
    try store.update("post:1", ["title": "old", "isFollowed": true, "other": 1])
    try store.commit { try store.state.update("post:1", from: Card(title: "new"), in: &$0) }
    #expect(try store.state.merged(["post:1"]) == ["title": "new", "isFollowed": true, "other": 1])
    try store.commit { try store.state.update("post:1", from: Card(title: "new", isFollowed: false), in: &$0) }
    #expect(try store.state.merged(["post:1"], as: Card.self) == Card(title: "new", isFollowed: false))
    try store.commit { try store.state.update("post:2", from: Empty(), in: &$0) }
    #expect(try store.state.merged(["post:2"]).isEmpty)
    try store.state.verify()
  }

  @Test func replacingByAValueLeavesNothingElse() throws {
    let store = try fixture.open()
    try store.update("post:1", ["title": "old", "isFollowed": true, "other": 1])
    try store.commit { try store.state.replace("post:1", from: Card(title: "new"), in: &$0) }
    #expect(try store.state.merged(["post:1"]) == ["title": "new"])
    try store.commit { try store.state.replace("post:1", from: Empty(), in: &$0) }
    #expect(try store.state.keys(ofType: "post").isEmpty)
    try store.state.verify()
  }

  @Test func valuesExpireAsFieldsDo() throws {
    let store = try fixture.open()
    let soon = StateExpiry.after(.seconds(1))
    try store.commit { t in
      try store.state.update("post:1", from: Card(title: "a"), expires: soon, in: &t)
      try store.state.update("post:1", from: Card(title: "b"), in: &t)
      try store.state.replace("post:2", from: Card(title: "a"), expires: soon, in: &t)
      try store.state.update("post:3", from: Card(title: "a"), expires: soon, in: &t)
      try store.state.replace("post:3", from: Card(title: "b"), in: &t)
    }
    let session = store.state.session
    try session.update("post:4", from: Card(title: "a"), expires: soon)
    try session.update("post:4", from: Card(title: "b"))
    try session.replace("post:5", from: Card(title: "a"), expires: soon)
    try session.update("post:6", from: Card(title: "a"), expires: soon)
    try session.replace("post:6", from: Card(title: "b"))
    #expect(try store.state.keys(ofType: "post").count == 6)
    fixture.advance(1000)
    #expect(try store.state.keys(ofType: "post") == ["post:3", "post:6"])
  }

  @Test func theSessionTakesValues() throws {
    let store = try fixture.open()
    let session = store.state.session
    try session.update("post:1", ["isFollowed": true])
    try session.update("post:1", from: Card(title: "a"))
    #expect(try store.state.merged(["post:1"], as: Card.self) == Card(title: "a", isFollowed: true))
    try session.replace("post:1", from: Card(title: "b"))
    #expect(try store.state.merged(["post:1"]) == ["title": "b"])
    #expect { try session.update("none", from: Card(title: "a")) } throws: { ($0 as? StoreError)?.code == .invalidKey }
  }

  @Test func whatMakesNoFieldsChangesNothing() throws {
    let store = try fixture.open()
    try store.update("post:1", ["title": "a"])
    try store.state.session.update("post:2", ["title": "a"])
    try store.commit { t in
      #expect(throws: EncodingError.self) { try store.state.update("post:1", from: ["title": UInt64.max], in: &t) }
      #expect(throws: EncodingError.self) { try store.state.replace("post:1", from: [5], in: &t) }
    }
    #expect(throws: EncodingError.self) { try store.state.session.update("post:2", from: 5) }
    #expect(throws: EncodingError.self) { try store.state.session.replace("post:2", from: [5]) }
    #expect(try store.state.merged(["post:1"]) == ["title": "a"])
    #expect(try store.state.merged(["post:2"]) == ["title": "a"])
  }

  // MARK: Observing

  @Test func valuesAreConflatedLikeTheirFields() async throws {
    let store = try fixture.open()
    try store.update("post:1", ["title": "a"])
    var cards = store.state.updates(for: ["user:1", "post:1"], as: Card.self).makeAsyncIterator()
    #expect(try await cards.next() == Card(title: "a"))
    try store.update("post:1", ["title": "a"])
    for title in ["b", "c", "d"] { try store.update("post:1", ["title": .string(title)]) }
    #expect(try await cards.next() == Card(title: "d"), "what was in between is left out")
    async let next = cards.next()
    for _ in 0..<1000 { await Task.yield() }
    try store.update("user:1", ["isFollowed": true])
    #expect(try await next == Card(title: "d", isFollowed: true))
  }

  @Test func fieldsThatMakeNoValueAreAnErrorAndTheReaderMayAskAgain() async throws {
    let store = try fixture.open()
    var cards = store.state.updates(for: ["post:1"], as: Card.self).makeAsyncIterator()
    await #expect(throws: DecodingError.self) { try await cards.next() }
    try store.update("post:1", ["title": "a"])
    #expect(try await cards.next() == Card(title: "a"))
    try store.update("post:1", ["title": 5])
    await #expect(throws: DecodingError.self) { try await cards.next() }
    try store.commit { try store.state.remove("post:1", in: &$0) }
    try store.update("post:1", ["title": "b"])
    #expect(try await cards.next() == Card(title: "b"))
  }

  @Test func recordsLieOverAModel() async throws {
    let store = try fixture.open()
    let sent: FieldMap = ["title": "sent", "likes": 3]
    var fields = store.state.updates(for: ["post:1"], over: sent).makeAsyncIterator()
    var cards = store.state.updates(for: ["post:1"], over: sent, as: Card.self).makeAsyncIterator()
    #expect(try await fields.next() == sent)
    #expect(try await cards.next() == Card(title: "sent"))
    try store.update("post:1", ["title": "mine"])
    #expect(try await fields.next() == ["title": "mine", "likes": 3])
    #expect(try await cards.next() == Card(title: "mine"))
    try store.commit { try store.state.remove("post:1", in: &$0) }
    #expect(try await fields.next() == sent)
    #expect(try await cards.next() == Card(title: "sent"))
    try store.update("post:1", ["title": "sent"])
    async let next = fields.next()
    for _ in 0..<1000 { await Task.yield() }
    try store.update("post:1", ["title": "again"])
    #expect(try await next == ["title": "again", "likes": 3], "what makes no difference over the model is no update")
  }

  @Test func aCancelledReaderOfValuesEnds() async throws {
    let store = try fixture.open()
    let cards = store.state.updates(for: ["post:1"], over: ["title": "sent"], as: Card.self)
    let reader = Task { try await cards.reduce(0) { count, _ in count + 1 } }
    await fixture.wake()
    reader.cancel()
    #expect(try await reader.value == 1)
  }
}
