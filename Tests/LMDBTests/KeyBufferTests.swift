import LMDB
import TestSupport
import Testing

@Suite struct KeyBufferTests {
  @Test func putsPartsTogether() {
    let bytes = withKeyBuffer { key in
      key.append("user")
      key.append(UInt8(ascii: ":"))
      key.append("née")
      key.append([1, 2].span)
      key.append(bigEndian: 0x0102_0304_0506_0708)
      return [UInt8](copying: key.bytes)
    }
    #expect(bytes == Array("user:née".utf8) + [1, 2, 1, 2, 3, 4, 5, 6, 7, 8])
  }

  @Test func canBeUsedAgain() {
    let (empty, second) = withKeyBuffer { key in
      let empty = key.bytes.count
      key.append("first")
      key.removeAll()
      key.append("second")
      return (empty, [UInt8](copying: key.bytes))
    }
    #expect(empty == 0)
    #expect(second == Array("second".utf8))
  }

  @Test func aKeyThatIsTooLongStaysTooLong() throws {
    let scratch = TemporaryDirectory()
    let (environment, a) = try Environment.make(at: scratch())
    let failure = #expect(throws: StoreError.self) {
      try withKeyBuffer { key in
        for _ in 0..<100 { key.append("0123456789") }
        key.append(1)
        key.append([1, 2, 3].span)
        try environment.write { t in try t.set([1].span, forKey: key.bytes, in: a) }
      }
    }
    #expect(failure?.code == .invalidKey)
    #expect(try environment.statistics(of: a).entries == 0)
  }

  @Test func numbersSortAsNumbersDo() {
    let numbers: [UInt64] = [0, 1, 255, 256, 1 << 32, .max]
    let keys = numbers.map { number in
      withKeyBuffer { key in
        key.append(bigEndian: number)
        return [UInt8](copying: key.bytes)
      }
    }
    for (lower, upper) in zip(keys, keys.dropFirst()) { #expect(lower.lexicographicallyPrecedes(upper)) }
  }
}
