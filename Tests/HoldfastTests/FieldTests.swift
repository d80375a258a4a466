import LMDB
import Testing

@testable import Holdfast

@Suite struct FieldTests {
  private static let samples: [FieldMap] = [
    [:],
    ["": .null, "a": true, "b": false],
    ["int": .int(.min), "max": .int(.max), "zero": 0],
    ["nan": .double(.nan), "inf": .double(-.infinity), "minus": .double(-0.0), "pi": 3.25],
    ["text": "评论 💬 تعليق", "empty": "", "long": .string(String(repeating: "é", count: 5000))],
    ["bytes": .bytes([0, 255, 1]), "none": .bytes([]), "date": .date(milliseconds: -1)],
    ["array": [1, "two", [3.5, .null]], "map": ["x": ["y": ["z": true]]], "no": .array([])],
  ]

  private func encoded(_ fields: FieldMap) throws -> [UInt8] {
    var writer = ByteWriter()
    try FieldTable.append(fields, to: &writer)
    return writer.bytes
  }

  private func decoded(_ bytes: [UInt8]) throws -> FieldMap { try FieldTable.decode(bytes.span) }

  @Test(arguments: samples) func surviveTheDisk(_ fields: FieldMap) throws {
    let bytes = try encoded(fields)
    #expect(try decoded(bytes) == fields)
  }

  @Test func namesAreTakenByteByByte() throws {
    let composed = "\u{E9}"
    let decomposed = "e\u{301}"
    let fields: FieldMap = [composed: 1, decomposed: 2]
    #expect(fields.count == 2)
    #expect(fields[composed] == 1)
    #expect(try decoded(encoded(fields)).count == 2)
  }

  @Test func aFlippedByteIsAnErrorOrAValueButNeverATrap() throws {
    let original = try encoded(Self.samples[6])
    var failures = 0
    for index in original.indices {
      for bit in 0..<8 {
        var bytes = original
        bytes[index] ^= 1 << bit
        do { _ = try decoded(bytes) } catch { failures += 1 }
      }
    }
    #expect(failures > original.count)
    for length in original.indices {
      #expect(throws: Malformed.self) { try decoded(Array(original[..<length])) }
    }
  }

  @Test func overlappingPartsAreRefused() throws {
    var bytes = try encoded(["a": .string(String(repeating: "x", count: 100)), "b": .string("y")])
    // Let both values be the long one.
    bytes[4 + 16 + 8..<4 + 16 + 16] = bytes[4 + 8..<4 + 16]
    #expect(throws: Malformed.self) { try decoded(bytes) }
  }

  @Test func deepNestingIsRefusedBothWays() {
    var value: FieldValue = 1
    for _ in 0..<100 { value = .array([value]) }
    #expect(throws: StoreError.self) { try encoded(["deep": value]) }
  }

  @Test func tooManyFieldsAreRefused() throws {
    let most = FieldMap(sorted: (0..<65_535).map { FieldMap.Field(String(10_000_000 + $0), .null) })
    #expect(try decoded(encoded(most)) == most)
    let tooMany = FieldMap(sorted: (0..<65_536).map { FieldMap.Field(String(10_000_000 + $0), .null) })
    #expect { try encoded(tooMany) } throws: { ($0 as? StoreError)?.code == .invalidValue }
  }

  @Test func changesSetAndRemove() {
    var fields: FieldMap = ["keep": 1, "drop": 2, "change": 3]
    let changes: FieldChanges = ["drop": nil, "change": 4, "new": "n"]
    changes.apply(to: &fields)
    #expect(fields == ["keep": 1, "change": 4, "new": "n"])
  }

  @Test func asManyFieldsAsARecordCanHaveAreRemovedAtOnce() {
    var (changes, other) = (FieldChanges(), FieldChanges())
    var fields: FieldMap = ["keep": 1]
    let names = (0..<65_534).map { "name\($0)" }.sorted()
    for name in names { fields[name] = 1 }
    for name in names { changes[name] = nil }
    changes.apply(to: &fields)
    #expect(fields == ["keep": 1])
    for name in names.prefix(100).reversed() { other[name] = nil }
    #expect(other.removals == Array(names.prefix(100)), "in whatever order they were named")
    #expect(FieldChanges(dictionaryLiteral: ("a", nil), ("b", nil)) == ["b": nil, "a": nil])
  }

  @Test func aLaterChangeOfOneNameWins() {
    var changes: FieldChanges = ["a": 1]
    changes["a"] = nil
    #expect(changes.removals == ["a"] && changes.values.isEmpty)
    changes["a"] = 2
    #expect(changes.removals.isEmpty && changes.values == ["a": 2])
  }

  /// The first vectors of the reference implementation's `vectors_sip128`: key 00…0f, messages of 0 and 1 bytes.
  @Test func sipHashMatchesTheReference() {
    let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
    #expect(SipHash.hash128([], key: key).array.hexadecimal == "a3817f04ba25a8e66df67214c7550293")
    #expect(SipHash.hash128([0], key: key).array.hexadecimal == "da87c1d86b99af44347659119b22fc45")
  }
}
