import Foundation
import Testing

@testable import Holdfast

@Suite struct FieldCodingTests {
  private struct Address: Codable, Equatable {
    var street: String
    var number: Int?
  }

  private enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case square
  }

  private class Base: Codable {
    var base = 1
  }

  private final class Derived: Base {
    var derived = 2

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      derived = try container.decode(Int.self, forKey: .derived)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(derived, forKey: .derived)
      try super.encode(to: container.superEncoder())
    }

    enum Keys: String, CodingKey { case derived }
  }

  private struct Everything: Codable, Equatable {
    var bool = true
    var int = Int.min
    var large = UInt64(Int64.max)
    var small = UInt8.max
    var double = -0.0
    var float = Float(0.1)
    var text = "评论"
    var bytes: [UInt8] = [0, 255]
    var data = Data([1, 2])
    var date = Date(timeIntervalSince1970: 1_700_000_000.125)
    var url = URL(string: "https://example.com/a?b=c")!
    var price = Decimal(string: "-12345678901234567890.0123456789")!
    var id = UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!
    var list = [1, 2, 3]
    var none: String?
    var some: String? = "x"
    var nested = Address(street: "s", number: nil)
    var addresses = [Address(street: "t", number: 5)]
    var table = ["a": 1.5, "": 2]
    var shapes = [Shape.circle(radius: 2), .square]
    var optionals: [Int?] = [1, nil, 3]
    var matrix = [[1], [], [2, 3]]
  }

  @Test func everythingComesBack() throws {
    let value = Everything()
    let fields = try FieldEncoder().encode(value)
    #expect(try FieldDecoder().decode(Everything.self, from: fields) == value)
    #expect(fields["int"] == .int(.min) && fields["large"] == .int(.max) && fields["bytes"] == .bytes([0, 255]))
    #expect(fields["date"] == .date(milliseconds: 1_700_000_000_125) && fields["data"] == .bytes([1, 2]))
    #expect(fields["none"] == nil && fields["nested"] == ["street": "s"] && fields["url"]?.stringValue != nil)
    #expect(fields["price"] == "-12345678901234567890.0123456789")
    #expect(fields["optionals"] == [1, .null, 3] && fields["matrix"] == [[1], .array([]), [2, 3]])
  }

  @Test func nothingIsLostOnTheDisk() throws {
    let fields = try FieldEncoder().encode(Everything())
    var writer = ByteWriter()
    try FieldTable.append(fields, to: &writer)
    let bytes = writer.bytes
    let decoded = try FieldTable.decode(bytes.span)
    #expect(try FieldDecoder().decode(Everything.self, from: decoded) == Everything())
  }

  @Test func datesKeepTheirMillisecond() throws {
    for milliseconds in stride(from: Int64(1_700_000_000_000), to: 1_700_000_001_000, by: 1) {
      let date = try FieldDecoder().decode(Number<Date>.self, from: ["n": .date(milliseconds: milliseconds)])
      #expect(try FieldEncoder().encode(date)["n"] == .date(milliseconds: milliseconds))
    }
  }

  @Test func datesAndDecimalsThatAreNoneAreNotMadeUp() throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000.125)
    #expect(FieldValue.date(date) == .date(milliseconds: 1_700_000_000_125) && FieldValue.date(date).dateValue == date)
    #expect(FieldValue.date(Date(timeIntervalSince1970: .nan)) == .null)
    #expect(FieldValue.date(Date(timeIntervalSince1970: -.infinity)) == .date(milliseconds: .min))
    #expect(FieldValue.date(Date(timeIntervalSince1970: 1e300)) == .date(milliseconds: .max))
    #expect(FieldValue.int(5).dateValue == nil)
    #expect(throws: EncodingError.self) { try FieldEncoder().encode(Number(n: Decimal.nan)) }
    for text in ["1x", "", "NaN", " 1", "1e2", "0x1"] {
      #expect(throws: DecodingError.self) {
        try FieldDecoder().decode(Number<Decimal>.self, from: ["n": .string(text)])
      }
    }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Number<Decimal>.self, from: ["n": 1]) }
  }

  @Test func superclassesAreCoded() throws {
    let value = Derived()
    value.base = 10
    value.derived = 20
    let fields = try FieldEncoder().encode(value)
    #expect(fields == ["derived": 20, "super": ["base": 10]])
    let decoded = try FieldDecoder().decode(Derived.self, from: fields)
    #expect(decoded.base == 10 && decoded.derived == 20)
  }

  private struct Number<T: Codable & Equatable>: Codable, Equatable { var n: T }

  @Test func numbersAreExactOrAnError() throws {
    #expect(throws: EncodingError.self) { try FieldEncoder().encode(Number(n: UInt64.max)) }
    #expect(throws: EncodingError.self) {
      try FieldEncoder().encode(Number(n: Date.distantFuture.addingTimeInterval(1e18)))
    }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Number<Int8>.self, from: ["n": 128]) }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Number<UInt>.self, from: ["n": -1]) }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Number<Int>.self, from: ["n": 1.0]) }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Number<Double>.self, from: ["n": .int(.max)]) }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Number<Float>.self, from: ["n": 16_777_217]) }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Number<Float>.self, from: ["n": 1e300]) }
    #expect(try FieldDecoder().decode(Number<Float>.self, from: ["n": 16_777_216]).n == 16_777_216)
    #expect(try FieldDecoder().decode(Number<Float>.self, from: ["n": 0.1]).n == 0.1)
    #expect(try FieldDecoder().decode(Number<Float>.self, from: ["n": .double(.infinity)]).n == .infinity)
    #expect(try FieldDecoder().decode(Number<Double>.self, from: ["n": 3]) == Number(n: 3))
    let large = Int64.max - 1
    #expect(try FieldDecoder().decode(Number<Int64>.self, from: ["n": .int(large)]).n == large)
  }

  @Test func datesThatAreNoTimeAreAnErrorThatCanBeShown() throws {
    for seconds in [Double.nan, .infinity, -.infinity, 1e300] {
      #expect {
        try FieldEncoder().encode(Number(n: Date(timeIntervalSince1970: seconds)))
      } throws: {
        $0 is EncodingError && "\($0)".contains("cannot be kept exactly")
      }
    }
  }

  private struct Parted: Encodable {
    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: FieldName.self)
      for name in ["a", "b"] {
        var part = fields.nestedContainer(keyedBy: FieldName.self, forKey: FieldName("part"))
        try part.encode(name, forKey: FieldName(name))
        var list = fields.nestedUnkeyedContainer(forKey: FieldName("list"))
        try list.encode(name)
      }
    }
  }

  @Test func aPartThatIsAddedToKeepsWhatItHad() throws {
    #expect(try FieldEncoder().encode(Parted()) == ["part": ["a": "a", "b": "b"], "list": ["a", "b"]])
  }

  private final class Link: Codable {
    var next: Link?

    init(_ next: Link?) { self.next = next }

    static func chain(_ length: Int) -> Link { (1..<length).reduce(Link(nil)) { next, _ in Link(next) } }
  }

  /// As deep as a record can be, and no deeper: what refers to itself would go on until the stack ends.
  @Test func whatNestsTooDeepIsAnError() async throws {
    let deepest = try FieldEncoder().encode(Link.chain(FieldTable.depthLimit))
    var writer = ByteWriter()
    try FieldTable.append(deepest, to: &writer)
    await #expect(processExitsWith: .success) {
      let ring = Link(nil)
      ring.next = ring
      for link in [ring, Link.chain(20_000)] {
        #expect(throws: EncodingError.self) { try FieldEncoder().encode(link) }
      }
      // Without the end of the chain, which would be as deep.
      exit(0)
    }
  }

  private struct Sieve: Encodable {
    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: FieldName.self)
      var list = fields.nestedUnkeyedContainer(forKey: FieldName("list"))
      for number in [1, UInt64.max, 2] { try? list.encode(number) }
      try fields.encode(list.count, forKey: FieldName("count"))
    }
  }

  @Test func anElementThatIsRefusedIsNone() throws {
    #expect(try FieldEncoder().encode(Sieve()) == ["list": [1, 2], "count": 2])
  }

  private struct Mixed: Encodable {
    var isArray: Bool
    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: FieldName.self)
      try fields.encode(1, forKey: FieldName("a"))
      if isArray {
        var list = encoder.unkeyedContainer()
        try list.encode(2)
      } else {
        var single = encoder.singleValueContainer()
        try single.encode(2)
      }
    }
  }

  @Test(arguments: [false, true]) func twoWaysAtOnceAreAnError(_ isArray: Bool) {
    #expect(throws: EncodingError.self) { try FieldEncoder().encode(Mixed(isArray: isArray)) }
    #expect(throws: EncodingError.self) { try FieldEncoder().encode(["n": Mixed(isArray: isArray)]) }
  }

  @Test func whatIsEncodedLastStays() throws {
    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        var part = fields.nestedContainer(keyedBy: FieldName.self, forKey: FieldName("a"))
        try part.encode(1, forKey: FieldName("b"))
        try fields.encode(2, forKey: FieldName("a"))
      }
    }
    #expect(try FieldEncoder().encode(Twice()) == ["a": 2])
  }

  @Test func errorsNameThePath() throws {
    struct Outer: Decodable { var list: [Address] }
    #expect {
      try FieldDecoder().decode(Outer.self, from: ["list": [["street": "s"], ["street": 5]]])
    } throws: { error in
      guard case .typeMismatch(_, let context)? = error as? DecodingError else { return false }
      return context.codingPath.map(\.stringValue) == ["list", "Index 1", "street"]
    }
    #expect {
      try FieldDecoder().decode(Outer.self, from: [:])
    } throws: { error in
      guard case .keyNotFound(let key, _)? = error as? DecodingError else { return false }
      return key.stringValue == "list"
    }
    #expect(throws: DecodingError.self) { try FieldDecoder().decode(Outer.self, from: ["list": .null]) }
    #expect(throws: EncodingError.self) { try FieldEncoder().encode([1, 2]) }
    #expect(throws: EncodingError.self) { try FieldEncoder().encode(5) }
  }

  @Test func aStoreDecodesItsRecords() throws {
    let store = try StateFixture().open()
    let fields = try FieldEncoder().encode(Address(street: "s", number: 4))
    try store.update("place:1", FieldChanges(fields))
    try store.update("place:2", ["number": 5])
    #expect(try store.state.merged(["place:1", "place:2"], as: Address.self) == Address(street: "s", number: 5))
    #expect(throws: DecodingError.self) { try store.state.merged(["place:2"], as: Address.self) }
  }
}
