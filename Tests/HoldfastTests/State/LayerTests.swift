import LMDB
import TestSupport
import Testing

@testable import Holdfast

@Suite struct LayerTests {
  private let fixture = StateFixture()

  private enum Ending { case folded, dropped }

  private func add(
    _ changes: [StateKey: FieldChanges], _ entry: UInt64, _ policy: OptimisticPolicy = .fold, to store: Store
  ) throws {
    try store.write { t in try store.state.layers.add(changes, for: entry, policy, in: &t) }
  }

  private func end(_ entry: UInt64, _ ending: Ending, in store: Store) throws {
    try store.write { t in
      try store.state.layers.end(entry, isDelivered: ending == .folded, at: fixture.now, in: &t)
    }
  }

  private func rows(_ store: Store) throws -> Int {
    try store.read { t in try t.count(of: store.state.layers.layers) }
  }

  @Test func layersLieOverTheRecordInTheOrderOfTheirEntries() throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1, "b": 1, "c": 1])
    try add(["post:1": ["a": 20, "b": 20]], 20, to: store)
    try add(["post:1": ["a": 10, "c": nil], "user:1": ["u": 10]], 10, to: store)
    #expect(try store.state.merged(["post:1", "user:1"]) == ["a": 20, "b": 20, "u": 10])
    let direct = try store.state.withMerged(["user:1", "post:1"]) { try $0.fields() }
    #expect(direct == ["a": 20, "b": 20, "u": 10])
    #expect(try store.state.merged(ids: ["1"]) == ["a": 20, "b": 20, "u": 10])
    try store.state.session.update("post:1", ["a": 99])
    #expect(try store.state.merged(["post:1"])["a"] == 99, "the session is above all")
  }

  @Test func aFieldRemovedByALayerShowsTheKeyBelow() throws {
    let store = try fixture.open()
    try store.update("post:1", ["a": 1])
    try store.update("user:1", ["a": 2])
    try add(["user:1": ["a": nil]], 1, to: store)
    #expect(try store.state.merged(["post:1", "user:1"]) == ["a": 1])
    try end(1, .dropped, in: store)
    #expect(try store.state.merged(["post:1", "user:1"]) == ["a": 2])
  }

  /// Whatever becomes of three overlapping layers, in whatever order: the result is that of the folded ones alone.
  @Test func everyOrderOfEveryEndingGivesTheSameResult() throws {
    let orders: [[UInt64]] = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]
    let changes: [UInt64: FieldChanges] = [
      1: ["a": 1, "b": 1, "gone": nil], 2: ["a": 2, "c": 2, "gone": 2], 3: ["a": 3, "b": nil],
    ]
    let store = try fixture.open()
    for (number, order) in orders.enumerated() {
      for endings in 0..<8 {
        let key = StateKey("post:\(number)-\(endings)")
        let base: FieldMap = ["a": 0, "gone": 0, "kept": 0]
        try store.update(key, FieldChanges(base))
        for entry in 1...3 { try add([key: changes[UInt64(entry)]!], UInt64(entry), to: store) }
        for entry in order {
          let before = try store.state.merged([key])
          let isFolded = endings & 1 << (entry - 1) != 0
          try end(entry, isFolded ? .folded : .dropped, in: store)
          if isFolded { #expect(try store.state.merged([key]) == before, "folding changes nothing that is seen") }
        }
        var expected = base
        for entry in 1...3 where endings & 1 << (entry - 1) != 0 { changes[UInt64(entry)]!.apply(to: &expected) }
        #expect(try store.state.merged([key]) == expected, "\(order) \(endings)")
      }
    }
    #expect(try rows(store) == 0)
    try store.state.verify()
  }

  @Test func whatIsDroppedLeavesNoTrace() throws {
    let store = try fixture.open()
    try add(["post:1": ["a": 1]], 1, to: store)
    #expect(try store.state.merged(["post:1"]) == ["a": 1])
    try end(1, .dropped, in: store)
    #expect(try store.state.merged(["post:1"]).isEmpty)
    let records = try store.read { t in try t.count(of: store.state.rows.records) }
    #expect(try records == 0 && rows(store) == 0)
    try store.state.verify()
  }

  @Test func aDroppedLayerDoesNotCountAsAnUpdateOfItsRecord() throws {
    let store = try fixture.open()
    try store.update("a:1", ["who": "a"])
    try store.update("b:1", ["who": "b"])
    try add(["a:1": ["more": 1]], 1, to: store)
    #expect(try store.state.merged(ids: ["1"])["who"] == "a", "a promise is an update")
    try end(1, .dropped, in: store)
    #expect(try store.state.merged(ids: ["1"])["who"] == "b")
  }

  @Test func aDeliveredLayerIsDroppedIfTheServersAnswerWasStored() throws {
    let store = try fixture.open()
    try add(["post:1": ["likes": 5]], 1, .drop, to: store)
    try store.write { t in
      try store.state.update("post:1", ["likes": 17], in: &t)
      try store.state.layers.end(1, isDelivered: true, at: fixture.now, in: &t)
    }
    #expect(try store.state.merged(["post:1"]) == ["likes": 17])
    try store.state.verify()
  }

  @Test func removalAndExpiryLeaveLayersAlone() throws {
    let store = try fixture.open()
    for key: StateKey in ["t:1", "t:2", "t:3", "t:4"] {
      try store.update(key, ["a": 1], expires: .after(.seconds(1)))
      try add([key: ["b": 2]], 1, to: store)
    }
    #expect(try store.write { try store.state.remove("t:1", in: &$0) })
    #expect(try store.write { try store.state.remove("t:1", in: &$0) } == false)
    fixture.advance(1000)
    #expect(try store.state.merged(["t:2"]) == ["b": 2])
    #expect(try store.write { try store.state.purge(in: &$0) } == 3)
    #expect(try store.state.merged(["t:1"]) == ["b": 2])
    #expect(try store.write { try store.state.removeAll(type: "t", in: &$0) } == 0)
    try store.write { try store.state.removeAll(in: &$0) }
    #expect(try store.state.merged(["t:3"]) == ["b": 2])
    try end(1, .folded, in: store)
    #expect(try store.state.merged(["t:1", "t:2", "t:3", "t:4"]) == ["b": 2])
    #expect(try rows(store) == 0)
    try store.state.verify()
  }

  @Test func aLayerWithoutAnEntryIsFound() throws {
    let store = try fixture.open()
    try add(["post:1": ["a": 1]], 77, to: store)
    #expect { try store.state.verify() } throws: { "\($0)".contains("77") && "\($0)".contains("post:1") }
  }
}
