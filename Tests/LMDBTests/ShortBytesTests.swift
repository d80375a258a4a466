import TestSupport
import Testing

@testable import LMDB

/// Keys and values that are in place.
@Suite struct ShortBytesTests {
  @Test func partsFollowEachOther() {
    var bytes = ShortBytes(bigEndian: 0x0102_0304_0506_0708)
    bytes.append(9 as UInt8)
    bytes.append(0x0B0A as UInt16)
    bytes.append(0x0F0E_0D0C as UInt32)
    var more = ShortBytes()
    more.append(0x1716_1514_1312_1110 as UInt64)
    more.append(-1 as Int64)
    bytes.append(more)
    bytes.append([UInt8]([7, 7]).span)
    #expect(bytes.array == Array(1...0x17) + Array(repeating: 0xFF, count: 8) + [7, 7])
    #expect(bytes.count == 33)
  }

  @Test func sixtyFourBytesAreTheMost() async {
    var bytes = ShortBytes()
    for number in 0..<64 as Range<UInt8> { bytes.append(number) }
    #expect(bytes.array == Array(0..<64))
    await #expect(processExitsWith: .failure) {
      var bytes = ShortBytes()
      for number in 0..<65 as Range<UInt8> { bytes.append(number) }
    }
  }

  @Test func comparesByBytesAndLength() {
    let (a, b) = (ShortBytes(bigEndian: 256), ShortBytes(bigEndian: 257))
    var longer = a
    longer.append(0 as UInt8)
    #expect(a == ShortBytes(bigEndian: 256) && a != b && a != longer)
    #expect(Set([a, b, longer, a]).count == 3)
    let (short, long) = (a.array, longer.array)
    let (isEqual, isNotEqual) = (a.equals(short.span), a.equals(long.span))
    #expect(isEqual && !isNotEqual)
    let (isPrefix, isNoPrefix) = (a.isPrefix(of: long.span), longer.isPrefix(of: short.span))
    #expect(isPrefix && !isNoPrefix)
  }

  @Test func readsAndWritesAsOtherKeysDo() throws {
    let directory = TemporaryDirectory()
    let environment = try Environment.open(at: directory.path, databases: ["a", "empty"])
    let (a, empty) = (try environment.database("a"), try environment.database("empty"))
    try environment.write { t in
      for number in [2, 6, 10] as [UInt64] {
        try t.set(ShortBytes(bigEndian: number), forKey: ShortBytes(bigEndian: number), in: a)
      }
      try t.set(ShortBytes(bigEndian: 1), forKey: "text", in: a)
      let removed = (
        try t.removeValue(forKey: ShortBytes(bigEndian: 6), in: a),
        try t.removeValue(forKey: ShortBytes(bigEndian: 6), in: a)
      )
      #expect(removed == (true, false))
      let isThere = try t.value(forKey: ShortBytes(bigEndian: 2), in: a) != nil
      #expect(isThere)
    }
    try environment.read { t in
      let key = ShortBytes(bigEndian: 10).array
      let ten = ShortBytes(bigEndian: 10).array
      let found = copy(try t.value(forKey: key.span, in: a))
      let next = copy(try t.key(atOrAfter: ShortBytes(bigEndian: 3), in: a))
      let last = copy(try t.lastKey(in: a))
      #expect(found == ten && next == ten && last == Array("text".utf8))
      let none = (
        try t.key(atOrAfter: ShortBytes(bigEndian: .max), in: a) == nil, try t.lastKey(in: empty) == nil,
        try t.value(forKey: ShortBytes(bigEndian: 6), in: a) == nil
      )
      #expect(none == (true, true, true))
      #expect(throws: StoreError.self) { _ = try t.value(forKey: ShortBytes(), in: a) == nil }
    }
  }

  private func copy(_ span: Span<UInt8>?) -> [UInt8]? {
    guard let span else { return nil }
    return [UInt8](copying: span)
  }
}
