import Foundation
import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct MergeTests {
  private let fixture = StateFixture()

  @Test func anIDAloneFindsEveryTypeOldestFirst() throws {
    let store = try fixture.open()
    try store.update("post:1", ["who": "post", "post": true])
    try store.update("user:1", ["who": "user", "user": true])
    try store.update("post:11", ["other": true])
    #expect(try store.state.merged(ids: ["1"]) == ["who": "user", "post": true, "user": true])
    try store.update("post:1", ["again": true])
    #expect(try store.state.merged(ids: ["1"])["who"] == "post", "the newest update wins within an id")
    #expect(try store.state.merged(ids: ["11", "1", "nobody"])["other"] == true)
    try store.update("user:2", ["who": "second"])
    #expect(try store.state.merged(ids: ["1", "2"])["who"] == "second", "a later id wins")
    #expect(try store.state.merged(ids: ["2", "1"])["who"] == "post")
    #expect { try store.state.merged(ids: [""]) } throws: { ($0 as? StoreError)?.code == .invalidKey }
  }

  @Test func idsOfAnyKindAreFoundAlone() throws {
    let store = try fixture.open()
    let ids = ["a", "a\0b", "a:b", "caf\u{E9}", "cafe\u{301}", String(repeating: "x", count: 10_000)]
    for id in ids { try store.update(StateKey(type: "t", id: id), ["id": .string(id)]) }
    for id in ids { #expect(try store.state.merged(ids: [id]) == ["id": .string(id)]) }
    try store.state.verify()
  }

  @Test func recordsOverrideAModel() throws {
    let store = try fixture.open()
    try store.update("post:1", ["hasComment": true, "title": "mine"])
    #expect(
      try store.state.merged(["post:1"], over: ["title": "theirs", "likes": 3])
        == ["hasComment": true, "title": "mine", "likes": 3])
  }

  @Test func aBatchIsOneSnapshot() throws {
    let store = try fixture.open()
    try store.update("a:1", ["n": 1])
    try store.update("b:1", ["n": 2])
    #expect(try store.state.merged(batch: [["a:1"], ["a:1", "b:1"], [], ["c:1"]]) == [["n": 1], ["n": 2], [:], [:]])
  }

  @Test func aBatchLiesOverAModelForEachList() throws {
    let store = try fixture.open()
    try store.update("a:1", ["n": 1])
    let merged = try store.state.merged(batch: [["a:1"], [], ["a:2"]], over: [["n": 0, "m": 2], ["n": 3], [:]])
    #expect(merged == [["n": 1, "m": 2], ["n": 3], [:]])
    #expect { try store.state.merged(batch: [["a:1"], []], over: [[:]]) } throws: {
      ($0 as? StoreError)?.code == .invalidOption && "\($0)".contains("2 lists of keys and 1 bases")
    }
  }

  @Test func aValueOfATypeIsMergedOverAModel() throws {
    struct Card: Codable, Equatable { var title: String, isFollowed: Bool? }
    let store = try fixture.open()
    #expect(try store.state.merged(["post:1"], as: Card?.self) == nil)
    let card = try store.state.merged(["post:1"], over: ["title": "a"], as: Card.self)
    #expect(card == Card(title: "a", isFollowed: nil))
    try store.update("post:1", ["isFollowed": true])
    #expect(
      try store.state.merged(["post:1"], over: ["title": "a"], as: Card?.self) == Card(title: "a", isFollowed: true))
    #expect { try store.state.merged(["user:7", "post:1"], as: Card.self) } throws: {
      guard case .keyNotFound(let key, let context)? = $0 as? DecodingError else { return false }
      return key.stringValue == "title" && context.debugDescription.contains("user:7, post:1")
    }
    // There is a field, so there is a card, and it lacks its title.
    #expect(throws: DecodingError.self) { try store.state.merged(["post:1"], as: Card?.self) }
  }

  @Test func whatIsKnownOfARecord() throws {
    let store = try fixture.open()
    #expect(try store.state.info(forKey: "post:1") == nil)
    #expect(try store.state.lastStamp() == 0)
    try store.update("post:1", ["a": 1])
    try store.update("post:2", ["a": 1], expires: .after(.seconds(1)))
    let info = try #require(try store.state.info(forKey: "post:2"))
    #expect(info.stamp == 2 && info.updatedAt == fixture.now && info.expiresAt == fixture.now + 1000)
    #expect(try store.state.info(forKey: "post:1")?.expiresAt == nil)
    #expect(try store.state.lastStamp() == 2)
    fixture.advance(1000)
    #expect(try store.state.info(forKey: "post:2") == nil)
    try store.commit { t in
      try store.state.layers.add(["post:1": ["a": 2], "post:3": ["a": 2]], for: 1, .fold, in: &t)
    }
    let changed = try #require(try store.state.info(forKey: "post:1"))
    #expect(changed.stamp == 1 && changed.hasOptimisticChanges && !info.hasOptimisticChanges)
    let new = try #require(try store.state.info(forKey: "post:3"))
    #expect(new.stamp == 0 && new.updatedAt == 0 && new.hasOptimisticChanges)
    #expect { try store.state.info(forKey: "x") } throws: { ($0 as? StoreError)?.code == .invalidKey }
  }

  /// Whoever takes a copy and the stamp from one snapshot misses nothing and hears nothing twice.
  @Test func changesGoOnWhereASnapshotEnds() async throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1])
    let stamp = try store.read { transaction in
      try store.update("post:2", ["a": 1])
      return try store.state.lastStamp(in: transaction)
    }
    var changes = try store.state.changes(after: stamp).makeAsyncIterator()
    guard case .record(let key, _, let next)? = try await changes.next() else {
      Issue.record("no change of a record")
      return
    }
    #expect(key == "post:2" && next == stamp + 1)
  }

  @Test func fieldsAreReadInPlace() throws {
    let store = try fixture.open()
    let many = FieldMap(sorted: (100..<140).map { FieldMap.Field("f\($0)", .int(Int64($0))) })
    try store.update(
      "post:1",
      [
        "bool": true, "int": -5, "double": 0.5, "string": "é", "bytes": .bytes([0, 1]), "date": .date(milliseconds: 7),
        "null": .null, "": 9, "list": [1, "x"],
      ])
    try store.update("post:2", ["int": 6])
    try store.update("post:3", FieldChanges(many))
    try store.state.withMerged(["post:1", "none:1", "post:2", "post:3"]) { fields in
      let bool = try fields.bool("bool")
      let int = try fields.int("int")
      let double = try fields.double("double")
      let whole = try fields.double("int")
      let string = try fields.string("string")
      let date = try fields.date("date")
      #expect(bool == true && int == 6 && double == 0.5 && whole == 6 && string == "é")
      #expect(date == FieldValue.date(milliseconds: 7).dateValue)
      let empty = try fields.int("")
      let wrongType = try fields.bool("int")
      let missing = try fields.bool("missing")
      let null = try fields.value("null")
      let list = try fields.value("list")
      #expect(empty == 9 && wrongType == nil && missing == nil && null == .null && list == [1, "x"])
      let contains = try (fields.contains("null"), fields.contains("f99"), fields.contains("f139"))
      #expect(contains == (true, false, true))
      for number in 100..<140 {
        let value = try fields.int("f\(number)")
        #expect(value == Int64(number))
      }
      let bytes = try fields.withBytes("bytes") { [UInt8](copying: $0) }
      let text = try fields.withBytes("string") { $0.count }
      let none = try fields.withBytes("int") { $0.count }
      #expect(bytes == [0, 1] && text == 2 && none == nil)
    }
    let direct = try store.state.withMerged(["post:1", "post:2"]) { try $0.fields() }
    #expect(try store.state.merged(["post:1", "post:2"]) == direct)
  }

  /// Neighbours are found by steps of a cursor; in whatever order, they are those that single reads find.
  @Test func neighboursAreReadLikeAnyOthers() throws {
    let store = try fixture.open()
    try store.write { t in
      for number in stride(from: 0, to: 3000, by: 3) {
        try store.state.update(
          StateKey(type: "post", id: "0000000\(number)"), ["n": .int(Int64(number)), "f\(number)": true], in: &t)
      }
    }
    var generator = SeededGenerator(seed: 7)
    func check(_ numbers: [Int]) throws {
      let keys = numbers.map { StateKey(type: "post", id: "0000000\($0)") }
      for count in 0...keys.count {
        let expected = numbers.prefix(count).last { $0 % 3 == 0 && $0 < 3000 && $0 >= 0 }
        let found = try store.state.withMerged(Array(keys.prefix(count))) { try $0.int("n") }
        #expect(found == expected.map { Int64($0) })
      }
      let names = Set(numbers.filter { $0 % 3 == 0 && $0 < 3000 && $0 >= 0 }.map { "f\($0)" })
      let all = try store.state.withMerged(keys) { try $0.fields() }
      #expect(Set(all.map(\.name)).subtracting(["n"]) == names, "every key is read, and nobody else's")
      try store.write { t in
        let found = try store.state.withMerged(keys, in: t.reader) { try $0.int("n") }
        #expect(found == numbers.last { $0 % 3 == 0 && $0 < 3000 && $0 >= 0 }.map { Int64($0) })
      }
    }
    try check(Array(stride(from: 300, to: 330, by: 3)))
    try check(Array(stride(from: 330, to: 300, by: -3)))
    try check(Array(300..<330))
    try check(Array((300..<330).reversed()))
    try check(Array(2990..<3010))
    for _ in 0..<100 {
      let base = Int.random(in: 0..<3000, using: &generator)
      try check((0..<20).map { _ in base + Int.random(in: -8...8, using: &generator) })
    }
  }

  @Test func aReadIsOneSnapshotUnderAWriter() async throws {
    let store = try fixture.open()
    let keys: [StateKey] = ["a:1", "b:1", "c:1"]
    func set(_ n: Int64) throws {
      try store.write { t in for key in keys { try store.state.update(key, [key.type: .int(n)], in: &t) } }
    }
    try set(0)
    let writer = Task { for n in 1...200 { try set(Int64(n)) } }
    for _ in 0..<2000 {
      let fields = try store.state.merged(keys)
      #expect(fields["a"] == fields["b"] && fields["b"] == fields["c"])
    }
    try await writer.value
    #expect(try store.state.merged(keys)["c"] == 200)
  }
}
