import TestSupport
import Testing

@testable import Holdfast

@Suite struct ExpiryTests {
  private let fixture = StateFixture()

  @Test func anExpiredRecordIsAMissOnEveryPath() throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1], expires: .after(.seconds(10)))
    try store.state.session.update("post:1", ["s": 1], expires: .after(.seconds(10)))
    fixture.advance(9_999)
    #expect(try store.state.merged(["post:1"]) == ["a": 1, "s": 1])
    #expect(try store.state.merged(ids: ["1"]) == ["a": 1, "s": 1])
    fixture.advance(1)
    #expect(try store.state.merged(["post:1"]).isEmpty)
    #expect(try store.state.merged(ids: ["1"]).isEmpty)
    #expect(try store.state.merged(batch: [["post:1"]]) == [[:]])
    let direct = try store.state.withMerged(["post:1"]) { try $0.contains("a") }
    #expect(!direct)
    #expect(try store.write { try store.state.remove("post:1", in: &$0) } == false)
    try store.state.verify()
  }

  @Test func aClockAtItsEndEndsNothing() throws {
    let store = try fixture.open()
    fixture.advance(.max - 1 - fixture.now)
    try store.update("post:1", ["a": 1], expires: .after(.seconds(10)))
    #expect(try store.state.merged(["post:1"]) == ["a": 1])
    fixture.advance(1)
    #expect(try store.state.merged(["post:1"]).isEmpty)
    try store.state.verify()
  }

  @Test func anUpdateOfAnExpiredRecordBeginsANewOne() throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1], expires: .after(.seconds(10)))
    fixture.advance(20_000)
    try store.update("post:1", ["b": 2])
    fixture.advance(1_000_000)
    #expect(try store.state.merged(["post:1"]) == ["b": 2])
    #expect(try store.write { try store.state.purge(in: &$0) } == 0)
    try store.state.verify()
  }

  @Test func anUpdateKeepsTheExpiryUnlessItNamesOne() throws {
    let store = try fixture.open()
    for key: StateKey in ["a:1", "b:1", "c:1", "d:1"] {
      try store.update(key, ["x": .string(key.type)], expires: .after(.seconds(10)))
    }
    try store.update("a:1", ["y": 1])
    try store.update("b:1", ["y": 1], expires: .never)
    try store.update("c:1", ["y": 1], expires: .after(.seconds(30)))
    try store.write { try store.state.replace("d:1", with: ["y": 1], in: &$0) }
    try store.state.verify()
    fixture.advance(10_000)
    #expect(try store.write { try store.state.purge(in: &$0) } == 1)
    #expect(try store.state.merged(batch: [["a:1"], ["b:1"], ["d:1"]]) == [[:], ["x": "b", "y": 1], ["y": 1]])
    fixture.advance(20_000)
    #expect(try store.state.merged(["c:1"]).isEmpty)
    #expect(try store.write { try store.state.purge(in: &$0) } == 1)
    try store.state.verify()
  }

  @Test func aPurgeIsBounded() throws {
    let store = try fixture.open()
    try store.write { t in
      for number in 0..<25 {
        try store.state.update("t:\(number)", ["a": 1], expires: .after(.milliseconds(number)), in: &t)
      }
    }
    fixture.advance(20)
    #expect(try store.write { try store.state.purge(limit: 15, in: &$0) } == 15)
    #expect(try store.write { try store.state.purge(limit: 15, in: &$0) } == 6)
    try store.state.verify()
  }

  /// The first records in the order of their end are damaged: more of them than may be deleted, so that no call ends there.
  @Test func aPurgeStepsOverWhatItCannotRead() throws {
    let store = try fixture.open()
    let damaged = (0..<3).map { StateKey(type: "t", id: "\($0)") }
    try store.write { t in
      for number in 0..<10 {
        try store.state.update("t:\(number)", ["a": 1], expires: .after(.milliseconds(number)), in: &t)
      }
      for key in damaged { try t.set([1, 2, 3], forKey: key.storedBytes, in: store.state.rows.records) }
    }
    fixture.advance(20)
    #expect(try store.commit { try store.state.purge(limit: 2, in: &$0) } == 2)
    #expect(try store.commit { try store.state.purge(in: &$0) } == 5)
    #expect(try store.commit { try store.state.purge(in: &$0) } == 0)
    for key in damaged {
      #expect { try store.state.merged([key]) } throws: { ($0 as? StoreError)?.code == .corruptRecord }
      #expect(try store.commit { try store.state.remove(key, in: &$0) })
    }
    #expect(try store.commit { try store.state.purge(in: &$0) } == 0)
    try store.state.verify()
  }

  @Test func whatHasExpiredDoesNotCountAsKept() throws {
    let store = try fixture.open()
    try store.update("t:1", ["n": 1])
    try store.update("t:2", ["n": 2])
    for number in 3...5 { try store.update("t:\(number)", ["n": 1], expires: .after(.seconds(1))) }
    fixture.advance(1000)
    #expect(try store.commit { try store.state.purge(type: "t", keeping: 2, in: &$0) } == 0)
    #expect(try store.commit { try store.state.purge(type: "t", keeping: 1, in: &$0) } == 1)
    #expect(try store.state.merged(["t:1", "t:2"]) == ["n": 2])
    #expect(try store.commit { try store.state.purge(in: &$0) } == 3)
    try store.state.verify()
  }

  /// When it was to expire is lost with the record, and still nothing is left of it in the list of expiries.
  @Test func anUnreadableRecordLeavesNoExpiryBehind() throws {
    let store = try fixture.open()
    for key in ["t:1", "t:2", "t:3"] as [StateKey] {
      try store.update(key, ["a": 1], expires: .after(.seconds(10)))
      if key != "t:3" { try store.damage(key) }
    }
    #expect(try store.commit { try store.state.remove("t:1", in: &$0) })
    try store.commit { try store.state.replace("t:2", with: ["a": 2], in: &$0) }
    try store.state.verify()
    fixture.advance(10_000)
    #expect(try store.commit { try store.state.purge(in: &$0) } == 1)
    #expect(try store.state.merged(["t:2"]) == ["a": 2])
  }

  @Test func fewerThanNoneCannotBeKept() throws {
    let store = try fixture.open()
    try store.update("t:1", ["n": 1])
    #expect { try store.commit { try store.state.purge(type: "t", keeping: -1, in: &$0) } } throws: {
      ($0 as? StoreError)?.code == .invalidOption && "\($0)".contains("-1")
    }
    #expect(try store.state.merged(["t:1"]) == ["n": 1])
  }

  @Test func purgesByAgeAndByNumber() throws {
    let store = try fixture.open()
    for number in 0..<10 {
      try store.update("t:\(number)", ["n": .int(Int64(number))])
      try store.update("u:\(number)", ["n": .int(Int64(number))])
      fixture.advance(1000)
    }
    try store.update("t:0", ["again": true])
    #expect(try store.write { try store.state.purge(type: "t", keeping: 3, in: &$0) } == 7)
    #expect(try store.state.merged(["t:7"]).isEmpty)
    #expect(try store.state.merged(["t:8", "t:9", "t:0"]) == ["n": 0, "again": true])
    #expect(try store.write { try store.state.purge(olderThan: .seconds(2), type: "u", in: &$0) } == 8)
    #expect(try store.state.merged(["u:8"]) == ["n": 8])
    #expect(try store.write { try store.state.purge(olderThan: .seconds(1), in: &$0) } == 2)
    #expect(try store.write { try store.state.purge(type: "t", keeping: 0, in: &$0) } == 2)
    try store.state.verify()
  }
}
