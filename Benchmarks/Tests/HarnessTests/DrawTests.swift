import Harness
import Testing

struct DrawTests {
  @Test("Zipfian draws stay in range, and the first ranks come up as often as the law says")
  func zipfian() {
    var random = Random(seed: 2)
    let count = 1000
    let zipfian = Zipfian(count: count)
    var ranks = [Int](repeating: 0, count: count)
    let draws = 100_000
    for _ in 0..<draws { ranks[zipfian.rank(&random)] += 1 }
    // The sum of 1/r^0.99 for 1000 ranks is 7.73.
    #expect(abs(Double(ranks[0]) / Double(draws) - 1 / 7.73) < 0.01)
    #expect(ranks[0] > ranks[1] && ranks[1] > ranks[10] && ranks[10] > ranks[500])
  }

  @Test("Keys are numbers of sixteen digits, and pick and index agree")
  func keys() {
    let keys = KeyBlock([0, 7, 1_234_567])
    #expect(String(decoding: keys.bytes, as: UTF8.self) == "000000000000000000000000000000070000000001234567")
    let picked = keys.picking([2, 0])
    let first = picked[0]
    #expect(first.count == 16 && first[15] == UInt8(ascii: "7"))
    #expect(picked.count == 2)
  }

  @Test("Values are the same for the same seed, and differ within")
  func values() {
    let values = ValueBlock(3, width: 100)
    #expect(values.bytes == ValueBlock(3, width: 100).bytes)
    #expect(values.count == 3)
    let first = values[0].touched, second = values[1].touched
    #expect(first != second)
  }

  @Test("What is touched of a value is its first and last eight bytes")
  func touched() {
    let long: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 2, 0, 0, 0, 0, 0, 0, 0]
    let short: [UInt8] = [1, 2]
    let sums = (long.span.touched, short.span.touched)
    #expect(sums.0 == 3)
    #expect(sums.1 == 0x201)
  }
}
