import TestSupport
import Testing

@testable import Holdfast

@Suite struct SessionTests {
  private let fixture = StateFixture()

  @Test func sessionRecordsWinOverDurableOnesOfTheirKeyOnly() throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1, "b": 1])
    try store.update("user:1", ["b": 3])
    try store.state.session.update("post:1", ["a": 2, "b": 2, "c": 2])
    #expect(try store.state.merged(["post:1", "user:1"]) == ["a": 2, "b": 3, "c": 2])
    #expect(try store.state.merged(["user:1", "post:1"]) == ["a": 2, "b": 2, "c": 2])
    let direct = try store.state.withMerged(["post:1", "user:1"]) { try ($0.int("a"), $0.int("b")) }
    #expect(direct == (2, 3))
    #expect(try store.state.merged(ids: ["1"]) == ["a": 2, "b": 2, "c": 2])
    store.state.session.remove(fields: ["a"], of: "post:1")
    #expect(try store.state.merged(["post:1"]) == ["a": 1, "b": 2, "c": 2])
    try store.state.session.replace("post:1", with: ["d": 4])
    #expect(try store.state.merged(["post:1"]) == ["a": 1, "b": 1, "d": 4])
    store.state.session.remove("post:1")
    #expect(try store.state.merged(["post:1"]) == ["a": 1, "b": 1])
  }

  @Test func withinAnIDSessionRecordsComeLastOldestFirst() throws {
    let store = try fixture.open()
    try store.state.session.update("a:1", ["who": "a", "a": 1])
    try store.state.session.update("b:1", ["who": "b"])
    try store.update("c:1", ["who": "c", "c": 1])
    #expect(try store.state.merged(ids: ["1"]) == ["who": "b", "a": 1, "c": 1])
    try store.state.session.update("a:1", ["more": 1])
    #expect(try store.state.merged(ids: ["1"])["who"] == "a")
    store.state.session.removeAll(type: "a")
    #expect(try store.state.merged(ids: ["1"]) == ["who": "b", "c": 1])
    store.state.session.removeAll()
    #expect(try store.state.merged(ids: ["1"]) == ["who": "c", "c": 1])
  }

  @Test func nothingOfASessionSurvives() throws {
    func use() throws {
      let store = try fixture.open()
      try store.state.session.update("post:1", ["a": 1])
      try store.update("post:1", ["b": 1])
    }
    try use()
    #expect(try fixture.open().state.merged(["post:1"]) == ["b": 1])
  }

  private final class Card {}

  @Test func anInstanceHasOneIDForItsLifeAndNobodyElseHasIt() {
    let card = Card()
    #expect(InstanceID(card) == InstanceID(card))
    var seen: Set<InstanceID> = []
    var addresses: Set<ObjectIdentifier> = []
    for _ in 0..<2000 {
      let card = Card()
      seen.insert(InstanceID(card))
      addresses.insert(ObjectIdentifier(card))
    }
    #expect(seen.count == 2000)
    #expect(addresses.count < 2000, "no address was used twice, so the test has shown nothing")
  }

  @Test func whatIsNoObjectHasAnIDToo() {
    let card = Card()
    let ids = [InstanceID(), InstanceID(card), InstanceID(), InstanceID(card)]
    #expect(Set(ids).count == 3 && ids[1] == ids[3])
  }

  @Test func theEndOfAnInstanceIsTheEndOfItsRecords() throws {
    let store = try fixture.open()
    let (card, other) = (Card(), Card())
    let keys = [card, other].flatMap { card in
      ["card", "cell"].map { StateKey(type: $0, instance: InstanceID(card)) }
    }
    for key in keys { try store.state.session.update(key, ["isExpanded": true]) }
    store.state.session.end(InstanceID(card))
    #expect(try store.state.merged(Array(keys[0...1])).isEmpty)
    #expect(try store.state.merged([keys[2]]) == ["isExpanded": true])
    #expect(try store.state.merged([keys[3]]) == ["isExpanded": true])
  }

  @Test func anInstanceMayEndItsRecordsInItsOwnEnd() throws {
    final class Screen {
      let session: SessionState
      init(_ session: SessionState) { self.session = session }
      deinit { session.end(InstanceID(self)) }
    }
    let store = try fixture.open()
    for _ in 0..<200 {
      let key: StateKey
      do {
        let screen = Screen(store.state.session)
        key = StateKey(type: "card", instance: InstanceID(screen))
        try store.state.session.update(key, ["isExpanded": true])
      }
      #expect(try store.state.merged([key]) == [:])
    }
  }

  @Test func whatConcernsAnInstanceCannotBeMadeDurable() throws {
    let store = try fixture.open()
    let key = StateKey(type: "card", instance: InstanceID(Card()))
    #expect { try store.update(key, ["a": 1]) } throws: { ($0 as? StoreError)?.code == .invalidKey }
  }

  @Test func invalidKeysAreRefusedInMemoryToo() throws {
    let store = try fixture.open()
    #expect { try store.state.session.update("no colon", ["a": 1]) } throws: {
      ($0 as? StoreError)?.code == .invalidKey
    }
  }
}
