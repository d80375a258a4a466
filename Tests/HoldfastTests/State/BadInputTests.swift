import LMDB
import TestSupport
import Testing

@testable import Holdfast

/// Hostile keys, names, values and bytes: exact results or typed errors, never a trap.
@Suite struct BadInputTests {
  private let fixture = StateFixture()

  @Test func keysOfEveryKindAreExact() throws {
    let store = try fixture.open()
    let ids = [
      "a\0b", "\0", ":", "::", "caf\u{E9}", "cafe\u{301}", "\u{301}x", String(repeating: "i", count: 10_240),
      String(repeating: "🗝", count: 10_000), String(repeating: "k", count: 65_533),
    ]
    let keys = ids.map { StateKey(type: "t", id: $0) } + [StateKey(type: "\u{301}", id: "\u{301}")]
    for (number, key) in keys.enumerated() { try store.update(key, ["n": .int(Int64(number))]) }
    for (number, key) in keys.enumerated() {
      #expect(try store.state.merged([key]) == ["n": .int(Int64(number))])
      #expect(StateKey(key.description) == key && StateKey(type: key.type, id: key.id) == key)
    }
    let direct = try store.state.withMerged(keys) { try $0.int("n") }
    #expect(direct == Int64(keys.count - 1))
    try store.state.verify()
  }

  @Test(arguments: [
    StateKey(type: "", id: "1"), StateKey(type: "a:b", id: "1"), StateKey(type: "a\0", id: "1"),
    StateKey(type: "a", id: ""), StateKey("no colon"), StateKey(""), StateKey(":"),
    StateKey(type: "a", id: String(repeating: "x", count: 65_534)),
  ])
  func everyCallRefusesAnInvalidKey(_ key: StateKey) throws {
    let store = try fixture.open()
    let state = store.state
    let calls: [() throws -> Void] = [
      { _ = try state.merged([key]) }, { _ = try state.merged(batch: [[key]]) },
      { _ = try state.merged([key], over: [:]) }, { try state.withMerged([key]) { _ in } },
      { try store.update(key, ["a": 1]) }, { try store.write { try state.replace(key, with: ["a": 1], in: &$0) } },
      { try store.write { _ = try state.remove(key, in: &$0) } },
      { try store.write { try state.remove(fields: ["a"], of: key, in: &$0) } },
      { try state.session.update(key, ["a": 1]) }, { try state.session.replace(key, with: ["a": 1]) },
      { try store.write { try state.layers.add([key: ["a": 1]], for: 1, .fold, in: &$0) } },
    ]
    for (number, call) in calls.enumerated() {
      do {
        try call()
        Issue.record("call \(number) took \(key)")
      } catch let error as StoreError {
        #expect(error.code == .invalidKey, "call \(number)")
      }
    }
    try state.verify()
  }

  @Test func whatCannotBeStoredIsNamed() throws {
    let store = try fixture.open()
    func sentence(_ body: () throws -> Void) -> String {
      do {
        try body()
        return ""
      } catch {
        return "\(error)"
      }
    }
    let state = store.state
    #expect(sentence { _ = try state.keys(ofType: "a:b") }.hasPrefix("The type \"a:b\" cannot be used: it holds"))
    #expect(sentence { _ = try state.merged(ids: [""]) }.hasPrefix("The id \"\" cannot be used: it is empty"))
    let large: FieldChanges = ["x": .bytes([UInt8](repeating: 1, count: StateRecord.byteLimit))]
    #expect(
      sentence { try store.update("post:41", large) }.hasPrefix("The record post:41 cannot be stored. It takes 6710"))
    let long: FieldChanges = [String(repeating: "f", count: 70_000): 1]
    #expect(
      sentence { try store.update("post:42", long) }.hasPrefix("The record post:42 cannot be stored. A field name"))
    #expect(
      sentence { try store.commit { try state.layers.add(["post:43": long], for: 1, .fold, in: &$0) } }
        .hasPrefix("The record post:43 cannot be stored."))
  }

  @Test func anInvalidKeyIsNamed() throws {
    let state = try fixture.open().state
    for text in [":", "no colon", "a:", ":b"] {
      let error = #expect(throws: StoreError.self) { try state.merged([StateKey(text)]) }
      #expect(error?.message.contains("\"\(text.hasPrefix(":b") ? "b" : text)\"") == true, "\(error as Any)")
    }
  }

  @Test func valuesOfEveryKindAreExact() throws {
    let store = try fixture.open()
    let fields: FieldMap = [
      "": .double(.nan), "inf": .double(.infinity), "minus": .double(-.infinity), "zero": .double(-0.0),
      "min": .int(.min), "max": .int(.max), "e\u{301}": 1, "\u{E9}": 2, "n\0l": .string("a\0b"),
      String(repeating: "n", count: 65_535): .bytes([UInt8](repeating: 9, count: 100_000)),
    ]
    try store.update("t:1", FieldChanges(fields))
    #expect(try store.state.merged(["t:1"]) == fields)
    let direct = try store.state.withMerged(["t:1"]) { view in
      try fields.map { field in try view.value(field.name) == field.value }
    }
    #expect(!direct.contains(false))
  }

  @Test func asManyFieldsAsARecordCanHave() throws {
    let store = try fixture.open()
    let most = FieldMap(sorted: (0..<65_535).map { FieldMap.Field(String(10_000_000 + $0), .int(Int64($0))) })
    try store.update("t:1", FieldChanges(most))
    #expect(try store.state.merged(["t:1"]).count == 65_535)
    let last = try store.state.withMerged(["t:1"]) { try $0.int("10065534") }
    #expect(last == 65_534)
    #expect { try store.update("t:1", ["one more": 1]) } throws: { ($0 as? StoreError)?.code == .invalidValue }
    #expect { try store.update("t:2", [String(repeating: "n", count: 65_536): 1]) } throws: {
      ($0 as? StoreError)?.code == .invalidValue
    }
    #expect(try store.state.merged(["t:2"]).isEmpty)
    try store.state.verify()
  }

  @Test func aRefusedChangeLeavesTheTransactionAsItWas() throws {
    let store = try fixture.open()
    var deep: FieldValue = 1
    for _ in 0..<100 { deep = .array([deep]) }
    try store.write { [deep] t in
      try store.state.update("t:1", ["a": 1], in: &t)
      do throws(StoreError) {
        try store.state.update("t:2", ["deep": deep], in: &t)
        Issue.record("a value of 100 levels was taken")
      } catch {
        #expect(error.code == .invalidValue)
      }
    }
    #expect(try store.state.merged(["t:1", "t:2"]) == ["a": 1])
    try store.state.verify()
  }

  @Test func spellingsOfOneCharacterAreTwoKeys() throws {
    let store = try fixture.open()
    for (one, other) in [("caf\u{E9}", "cafe\u{301}"), ("a\u{301}\u{323}", "a\u{323}\u{301}")] {
      let keys = [one, other].map { StateKey(type: "t", id: $0) }
      #expect(one == other && keys[0] != keys[1] && Set(keys).count == 2)
      try store.state.session.update(keys[0], ["a": 1])
      #expect(try store.state.merged([keys[1]]).isEmpty)
    }
  }

  @Test func rowsOfNonsenseAreErrors() throws {
    let store = try fixture.open()
    let layers = store.state.layers.layers
    let log = store.state.rows.log.changes
    try store.update("t:1", ["a": 1])
    try store.write { t in try store.state.layers.add(["t:1": ["b": 1]], for: 1, .fold, in: &t) }
    let layer = OptimisticLayers.Layer(entry: 2, key: "no colon", stamp: 1, policy: .fold, changes: ["a": 1])
    let row = try layer.encoded()
    try store.write { t in
      try t.set(row, forKey: [1] + layer.key.hash + UInt64(2).bigEndianBytes, in: layers)
      try t.set([], forKey: [2] + UInt64(2).bigEndianBytes + layer.key.hash, in: layers)
    }
    #expect(throws: (any Error).self) { try store.state.verify() }
    try store.write { t in try store.state.layers.end(2, isDelivered: false, at: 0, in: &t) }
    for bytes in [[], [1], [UInt8](repeating: 0xFF, count: 20)] as [[UInt8]] {
      try store.write { t in try t.set(bytes, forKey: [1] + StateKey("t:1").hash + UInt64(1).bigEndianBytes, in: layers)
      }
      #expect { try store.state.merged(["t:1"]) } throws: { ($0 as? StoreError)?.code == .corruptRecord }
    }
    try store.write { t in try t.set([9], forKey: UInt64.max.bigEndianBytes, in: log) }
    #expect { try store.update("t:2", ["a": 1]) } throws: { ($0 as? StoreError)?.code == .corruptRecord }
    #expect(throws: (any Error).self) { try store.state.verify() }
  }

  /// Every byte of a record is changed in turn. What is then read is the same or an error that names the key.
  @Test func aRecordWithAFlippedByteIsExactOrAnError() throws {
    let store = try fixture.open()
    let fields: FieldMap = [
      "bool": true, "int": 5, "text": "hello", "list": [1, "x", ["y": 2.5]], "map": ["a": ["b": .null]],
      "": .bytes([1, 2]),
    ]
    let longID = String(repeating: "k", count: 600)
    for key in [StateKey(type: "t", id: "1"), StateKey(type: "t", id: longID)] {
      try store.update(key, FieldChanges(fields))
      let records = store.state.rows.records
      let stored = key.storedBytes
      let original = try store.read { t in
        guard let bytes = try t.value(forKey: stored.span, in: records) else { return [UInt8]() }
        return [UInt8](copying: bytes)
      }
      let expected = try store.state.merged([key])
      let errors = try store.write { t in
        var errors = 0
        for index in original.indices {
          for bit in 0..<8 {
            var bytes = original
            bytes[index] ^= 1 << bit
            try t.set(bytes, forKey: stored, in: records)
            let results = [
              Result { try store.state.merged([key], in: t) },
              Result { try store.state.merged(ids: [key.id], in: t.reader) },
              Result { try store.state.withMerged([key], in: t.reader) { view in try view.fields() } },
              Result {
                try store.state.withMerged([key], in: t.reader) { view in
                  _ = try (view.bool("bool"), view.int("int"), view.string("text"), view.value("list"))
                  return expected
                }
              },
            ]
            for result in results {
              switch result {
              case .success(let fields): #expect(fields == expected, "byte \(index), bit \(bit)")
              case .failure(let error):
                let error = error as? StoreError
                #expect(error?.code == .corruptRecord && error?.message.contains(key.description.prefix(300)) == true)
                errors += 1
              }
            }
          }
        }
        var damaged = original
        damaged[40] ^= 1
        try t.set(damaged, forKey: stored, in: records)
        return errors
      }
      #expect(errors == original.count * 32)
      #expect(try store.write { try store.state.remove(key, in: &$0) }, "what cannot be read can be removed")
      try store.state.verify()
    }
  }
}
