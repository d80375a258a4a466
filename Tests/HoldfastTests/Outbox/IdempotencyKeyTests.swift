import Testing

@testable import Holdfast

@Suite struct IdempotencyKeyTests {
  @Test func keysOfManyThreadsAreDifferentUUIDs() async {
    let source = IdempotencyKeySource()
    let keys = await withTaskGroup { group in
      for _ in 0..<4 { group.addTask { (0..<1000).map { _ in source.next() } } }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(keys).count == 4000)
    #expect(keys.allSatisfy { $0.bytes.count == 16 && $0.bytes[6] >> 4 == 4 && $0.bytes[8] >> 6 == 2 })
    let known = IdempotencyKey(bytes: Array(0...15))
    #expect(known.map { "\($0)" } == "00010203-0405-0607-0809-0a0b0c0d0e0f")
  }
}
