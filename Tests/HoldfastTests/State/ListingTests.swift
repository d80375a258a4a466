import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct ListingTests {
  private let fixture = StateFixture()

  private func isInvalidKey(_ error: any Error) -> Bool { (error as? StoreError)?.code == .invalidKey }

  @Test func manyKeysComeOnceAndInTheOrderOfTheirIDs() throws {
    let store = try fixture.open()
    let ids = (0..<10_000).map { String($0) }
    try store.commit { t in
      for id in ids { try store.state.update(StateKey(type: "post", id: id), ["n": 1], in: &t) }
      for type in ["pos", "posts", "post\u{1}", "po"] { try store.state.update("\(type):5", ["n": 1], in: &t) }
    }
    let expected = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    for limit in [333, 1000, 10_000, .max] {
      #expect(try store.state.allKeys(ofType: "post", limit: limit).map(\.id) == expected)
    }
    #expect(try store.state.keys(ofType: "post").map(\.id) == Array(expected.prefix(1000)))
    #expect(try store.state.keys(ofType: "post", after: "post:9999").isEmpty)
    #expect(try store.state.keys(ofType: "post", after: "post:99985", limit: 2) == ["post:9999"], "none needs to exist")
    for limit in [0, -1, .min] { #expect(try store.state.keys(ofType: "post", limit: limit).isEmpty) }
  }

  @Test func longKeysAreListedInFullAndOnce() throws {
    let store = try fixture.open()
    let long = String(repeating: "é", count: 300)
    let start = String(repeating: "k", count: 490)
    var keys = (0..<40).map { StateKey(type: "doc", id: long + "\($0)") }
    // Around the longest that is stored as it is, among long ones that share their start.
    keys += (0..<40).map { StateKey(type: "doc", id: start + String(repeating: "k", count: $0)) }
    keys += ["doc:a", "doc:z", StateKey(type: "doc", id: String(repeating: "x", count: 65_531))]
    try store.commit { t in for key in keys { try store.state.update(key, ["n": 1], in: &t) } }
    for limit in [1, 7, 1000] {
      let found = try store.state.allKeys(ofType: "doc", limit: limit)
      #expect(found.count == keys.count && Set(found) == Set(keys))
      #expect(found.first == "doc:a" && Set(found.suffix(40)) == Set(keys.prefix(40)))
    }
  }

  @Test func aTypeIsListedAloneWhateverItsLength() throws {
    let store = try fixture.open()
    let types =
      ["a", "ab", "a ", "A", "caf\u{E9}", "cafe\u{301}"]
      + [493, 494, 495, 496, 505, 509, 510, 700].map { String(repeating: "t", count: $0) }
    let ids = ["1", "b:1", ":", "é", String(repeating: "x", count: 600)]
    let keys = types.flatMap { type in ids.map { StateKey(type: type, id: $0) } }
    try store.commit { t in for key in keys { try store.state.update(key, ["n": 1], in: &t) } }
    for type in types {
      for limit in [1, 1000] {
        let found = try store.state.allKeys(ofType: type, limit: limit)
        #expect(found.count == ids.count && Set(found) == Set(ids.map { StateKey(type: type, id: $0) }))
      }
    }
    #expect(try store.state.keys(ofType: "b").isEmpty)
  }

  @Test func pagesGoOnWhenKeysComeAndGo() throws {
    let store = try fixture.open()
    try store.commit { t in for n in 10..<30 { try store.state.update("post:\(n)", ["n": 1], in: &t) } }
    let first = try store.state.keys(ofType: "post", limit: 5)
    #expect(first.last == "post:14")
    try store.commit { t in
      for n in 12...16 { try store.state.remove("post:\(n)", in: &t) }
      try store.state.update("post:11a", ["n": 1], in: &t)
      try store.state.update("post:14a", ["n": 1], in: &t)
    }
    #expect(try store.state.keys(ofType: "post", after: first.last, limit: 3) == ["post:14a", "post:17", "post:18"])
    try store.commit { try store.state.removeAll(type: "post", in: &$0) }
    #expect(try store.state.keys(ofType: "post", after: "post:18").isEmpty)
  }

  @Test func keysOfAnotherTypeAndInvalidTypesAreRefused() throws {
    let store = try fixture.open()
    for type in ["", "a:b", "a\0"] {
      #expect(performing: { try store.state.keys(ofType: type) }, throws: isInvalidKey)
    }
    let wrong: [StateKey] = ["user:1", "pos:t:1", "posts:1", "post:", "none"]
    for key in wrong {
      #expect(performing: { try store.state.keys(ofType: "post", after: key) }, throws: isInvalidKey)
    }
  }

  @Test func whatIsOverIsNotListed() throws {
    let store = try fixture.open()
    try store.update("post:1", ["n": 1], expires: .after(.seconds(1)))
    try store.update("post:2", ["n": 1], expires: .after(.seconds(2)))
    try store.update("post:3", ["n": 1])
    try store.state.session.update("post:4", ["n": 1], expires: .after(.seconds(1)))
    #expect(try store.state.keys(ofType: "post") == ["post:1", "post:2", "post:3", "post:4"])
    fixture.advance(1000)
    #expect(try store.state.keys(ofType: "post") == ["post:2", "post:3"])
    #expect(try store.state.keys(ofType: "post", limit: 1) == ["post:2"], "one that is over takes no place")
    try store.commit { try store.state.purge(in: &$0) }
    #expect(try store.state.keys(ofType: "post") == ["post:2", "post:3"])
  }

  @Test func requestsInFlightCount() throws {
    let store = try fixture.open()
    try store.update("post:1", ["n": 1], expires: .after(.seconds(1)))
    try store.update("post:2", ["n": 1])
    let add = OutboxRequest(kind: "add", payload: [], optimistic: ["post:1": ["m": 1], "post:0": ["m": 1]])
    let delete = OutboxRequest(kind: "delete", payload: [], optimistic: ["post:2": ["n": nil], "post:3": ["n": nil]])
    let (added, deleted) = try store.commit { t in
      (try store.outbox.enqueue(add, in: &t), try store.outbox.enqueue(delete, in: &t))
    }
    #expect(try store.state.keys(ofType: "post") == ["post:0", "post:1"])
    fixture.advance(1000)
    #expect(try store.state.keys(ofType: "post") == ["post:0", "post:1"], "over, but there is a layer")
    try store.state.session.update("post:3", ["s": 1])
    #expect(try store.state.keys(ofType: "post") == ["post:0", "post:1", "post:3"])
    try store.commit { t in
      _ = try store.outbox.cancel(.entry(added), in: &t)
      _ = try store.outbox.cancel(.entry(deleted), in: &t)
    }
    #expect(try store.state.keys(ofType: "post") == ["post:2", "post:3"])
  }

  @Test func theSessionIsListedAmongTheOthers() throws {
    let store = try fixture.open()
    final class Card {}
    let card = Card()
    let instance = StateKey(type: "post", instance: InstanceID(card))
    let long = StateKey(type: "post", id: String(repeating: "x", count: 600))
    for id in ["1", "3", "5"] { try store.update("post:\(id)", ["n": 1]) }
    for key in ["post:0", "post:3", "post:4", "posts:2", "post:6", long] as [StateKey] {
      try store.state.session.update(key, ["n": 2])
    }
    let expected = ["post:0", "post:1", "post:3", "post:4", "post:5", "post:6", long] as [StateKey]
    for limit in [1, 2, 3, 7, .max] { #expect(try store.state.allKeys(ofType: "post", limit: limit) == expected) }
    for limit in [0, -1] { #expect(try store.state.keys(ofType: "post", limit: limit).isEmpty) }
    try store.state.session.update(instance, ["n": 2])
    #expect(Set(try store.state.allKeys(ofType: "post", limit: 1)) == Set(expected + [instance]))
    store.state.session.removeAll()
    #expect(try store.state.keys(ofType: "post") == ["post:1", "post:3", "post:5"])
  }

  @Test func aTransactionListsWhatItSees() throws {
    let store = try fixture.open()
    try store.update("post:1", ["n": 1])
    try store.read { snapshot in
      try store.update("post:2", ["n": 1])
      let old = try store.state.keys(ofType: "post", in: snapshot)
      #expect(old == ["post:1"])
    }
    try store.commit { t in
      try store.state.update("post:3", ["n": 1], in: &t)
      try store.state.remove("post:1", in: &t)
      let new = try store.state.keys(ofType: "post", in: t)
      let page = try store.state.keys(ofType: "post", after: "post:2", limit: 1, in: t)
      #expect(new == ["post:2", "post:3"] && page == ["post:3"])
      for key in new { try store.state.remove(key, in: &t) }
    }
    #expect(try store.state.keys(ofType: "post").isEmpty)
  }

  /// So that whoever lists can read the others, and remove it.
  @Test func aDamagedRecordIsListed() throws {
    let store = try fixture.open()
    let long = StateKey(type: "user", id: String(repeating: "1", count: 600))
    for key in ["post:1", "post:2", "post:3", "user:1", long] as [StateKey] { try store.update(key, ["n": 1]) }
    for key in ["post:2", long] { try store.damage(key) }
    #expect(try store.state.keys(ofType: "post") == ["post:1", "post:2", "post:3"])
    #expect {
      try store.state.merged(["post:2"])
    } throws: {
      ($0 as? StoreError)?.code == .corruptRecord && "\($0)".contains("post:2")
    }
    try store.commit { try store.state.remove("post:2", in: &$0) }
    #expect(try store.state.keys(ofType: "post") == ["post:1", "post:3"])
    #expect(try store.state.keys(ofType: "user", limit: 1) == ["user:1"])
    #expect(throws: StoreError.self, "its key is lost with it") { try store.state.keys(ofType: "user") }
  }
}
