import TestSupport
import Testing

@testable import Holdfast

@Suite struct StateStoreTests {
  private let directory = TemporaryDirectory()

  private func open() throws -> Store { try Store.open(at: "\(directory.path)/store") }

  @Test func laterKeysWin() throws {
    let store = try open()
    try store.write { t in
      try store.state.update("post:1", ["a": 1, "b": 1], in: &t)
      try store.state.update("user:1", ["b": 2, "c": 2], in: &t)
    }
    #expect(try store.state.merged(["post:1", "user:1"]) == ["a": 1, "b": 2, "c": 2])
    #expect(try store.state.merged(["user:1", "post:1"]) == ["a": 1, "b": 1, "c": 2])
    #expect(try store.state.merged(["post:1", "post:404"]) == ["a": 1, "b": 1])
    #expect(try store.state.merged([]) == [:])
  }

  @Test func updatesMergeAndTheLastFieldTakesTheRecordAlong() throws {
    let store = try open()
    try store.write { t in try store.state.update("post:1", ["a": 1, "b": 2], in: &t) }
    try store.write { t in try store.state.update("post:1", ["a": 3], in: &t) }
    #expect(try store.state.merged(["post:1"]) == ["a": 3, "b": 2])
    try store.write { t in try store.state.update("post:1", ["a": nil, "b": nil], in: &t) }
    #expect(try store.state.merged(["post:1"]).isEmpty)
    #expect(try store.write { t in try store.state.remove("post:1", in: &t) } == false)
  }

  @Test func aThrowingTransactionLeavesNothing() throws {
    struct Stop: Error {}
    let store = try open()
    #expect(throws: Stop.self) {
      try store.write { t in
        try store.state.update("post:1", ["a": 1], in: &t)
        throw Stop()
      }
    }
    #expect(try store.state.merged(["post:1"]).isEmpty)
  }

  @Test func survivesReopening() throws {
    try open().write { [store = try open()] t in try store.state.update("post:1", ["a": "x"], in: &t) }
    #expect(try open().state.merged(["post:1"]) == ["a": "x"])
  }

  @Test func twoTypesWithOneIdAreTwoRecords() throws {
    let store = try open()
    try store.write { t in
      try store.state.update("post:1", ["who": "post"], in: &t)
      try store.state.update("user:1", ["who": "user"], in: &t)
    }
    #expect(try store.state.merged(["post:1"]) == ["who": "post"])
  }

  @Test(arguments: [
    StateKey(type: "", id: "1"), StateKey(type: "a:b", id: "1"), StateKey(type: "a\0", id: "1"),
    StateKey(type: "a", id: ""), StateKey("no colon"),
    StateKey(type: "a", id: String(repeating: "x", count: 70_000)),
  ])
  func anInvalidKeyIsATypedError(_ key: StateKey) throws {
    let store = try open()
    #expect { try store.state.merged([key]) } throws: { ($0 as? StoreError)?.code == .invalidKey }
    #expect {
      try store.write { t in try store.state.update(key, ["a": 1], in: &t) }
    } throws: {
      ($0 as? StoreError)?.code == .invalidKey
    }
  }

  @Test func longKeysAreToldApart() throws {
    let store = try open()
    let long = String(repeating: "🗝", count: 2500)
    let keys = ["a", "b"].map { StateKey(type: "doc", id: long + $0) }
    let edges = [506, 507, 508].map { StateKey(type: "doc", id: String(repeating: "k", count: $0)) }
    try store.write { t in
      for (index, key) in (keys + edges).enumerated() {
        try store.state.update(key, ["index": .int(Int64(index))], in: &t)
      }
    }
    for (index, key) in (keys + edges).enumerated() {
      #expect(try store.state.merged([key]) == ["index": .int(Int64(index))])
    }
  }

  @Test func idsThatLookAlikeAreKeptApart() throws {
    let store = try open()
    let ids = ["caf\u{E9}", "cafe\u{301}", "a\0b", "a", "a:b"]
    try store.write { t in
      for id in ids { try store.state.update(StateKey(type: "t", id: id), ["id": .string(id)], in: &t) }
    }
    for id in ids {
      #expect(try store.state.merged([StateKey(type: "t", id: id)]) == ["id": .string(id)])
    }
  }

  @Test func aDamagedRecordIsNamedAndTheOthersAreRead() throws {
    let store = try open()
    try store.write { t in
      try store.state.update("post:1", ["a": 1], in: &t)
      try store.state.update("post:2", ["a": 2], in: &t)
      let records = try store.environment.database("state.record")
      try t.set([1, 2, 3], forKey: "post:1", in: records)
    }
    #expect { try store.state.merged(["post:1"]) } throws: {
      ($0 as? StoreError)?.code == .corruptRecord && "\($0)".contains("post:1")
    }
    #expect(try store.state.merged(["post:2"]) == ["a": 2])
    try store.write { t in try store.state.remove("post:1", in: &t) }
    #expect(try store.state.merged(["post:1", "post:2"]) == ["a": 2])
  }

  @Test func stampsCountChangesInTheOrderOfCommits() throws {
    struct Stop: Error {}
    let store = try open()
    for index in 1...3 { try store.update("post:1", ["n": .int(Int64(index))]) }
    #expect(throws: Stop.self) {
      try store.write { t in
        try store.state.update("post:1", ["n": 4], in: &t)
        throw Stop()
      }
    }
    try store.write { t in
      try store.state.update("post:2", ["n": 5], in: &t)
      try store.state.update("post:2", ["m": nil], in: &t)
      try store.state.remove("post:1", in: &t)
    }
    let (first, second, last) = try store.read { t in
      (
        try store.state.rows.record("post:1", in: t), try store.state.rows.record("post:2", in: t),
        try store.state.rows.log.lastStamp(in: t)
      )
    }
    #expect(first == nil && second?.stamp == 5 && last == 6)
    try store.state.verify()
  }

  @Test func replaceLeavesNothingElse() throws {
    let store = try open()
    try store.update("post:1", ["a": 1, "b": 2])
    try store.write { try store.state.replace("post:1", with: ["c": 3], in: &$0) }
    #expect(try store.state.merged(["post:1"]) == ["c": 3])
    try store.write { try store.state.replace("post:1", with: [:], in: &$0) }
    #expect(try store.state.merged(["post:1"]).isEmpty)
    try store.state.verify()
  }

  @Test func removalAtEachLevel() throws {
    let store = try open()
    let long = String(repeating: "x", count: 600)
    let keys: [StateKey] = ["post:1", "post:2", "posts:1", "user:1", StateKey(type: "post", id: long)]
    try store.write { t in
      for key in keys { try store.state.update(key, ["a": 1, "b": 2], expires: .after(.seconds(60)), in: &t) }
      try store.state.remove(fields: ["a", "none"], of: "post:1", in: &t)
    }
    #expect(try store.state.merged(["post:1"]) == ["b": 2])
    try store.state.verify()
    try store.write { try store.state.remove(fields: ["b"], of: "post:1", in: &$0) }
    #expect(try store.state.merged(["post:1"]).isEmpty)
    #expect(try store.write { try store.state.removeAll(type: "post", in: &$0) } == 2)
    #expect(try store.state.merged(keys) == ["a": 1, "b": 2])
    #expect(try store.state.merged(ids: [long]).isEmpty)
    try store.state.verify()
    try store.write { try store.state.removeAll(in: &$0) }
    #expect(try store.state.merged(keys).isEmpty)
    try store.state.verify()
    #expect { try store.write { try store.state.removeAll(type: "a:b", in: &$0) } } throws: {
      ($0 as? StoreError)?.code == .invalidKey
    }
  }

  @Test func typesOfAnyLengthAreRemovedAlone() throws {
    let store = try open()
    let type = String(repeating: "t", count: 505)
    let keys = [StateKey(type: type, id: "1234567890"), StateKey(type: type + "t", id: "1")]
    for key in keys { try store.update(key, ["a": 1]) }
    #expect(try store.write { try store.state.removeAll(type: type, in: &$0) } == 1)
    #expect(try store.state.merged([keys[0]]).isEmpty)
    #expect(try store.state.merged([keys[1]]) == ["a": 1])
    try store.state.verify()
  }
}
