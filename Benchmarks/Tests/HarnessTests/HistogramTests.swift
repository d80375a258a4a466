import Harness
import Testing

struct HistogramTests {
  @Test("Percentiles are those of the sorted sample, at most a thousandth too high")
  func percentiles() {
    var random = Random(seed: 1)
    var histogram = Histogram()
    let sample = (0..<20_000).map { _ in random.next() >> UInt64(8 + random.below(50)) }
    for value in sample { histogram.record(value) }
    let sorted = sample.sorted()
    for fraction in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1] {
      let exact = sorted[max(1, Int((fraction * Double(sorted.count)).rounded(.up))) - 1]
      let found = histogram.percentile(fraction)
      #expect(
        found >= exact && Double(found) <= Double(exact) * (1 + 1.0 / 1024) + 1, "\(fraction): \(found), \(exact)")
    }
    #expect(histogram.maximum == sorted.last)
    #expect(histogram.count == sample.count)
  }

  @Test("Merging is the same as recording everything in one")
  func merging() {
    var one = Histogram(), other = Histogram(), both = Histogram()
    for value in UInt64(0)..<5000 {
      if value % 3 == 0 { one.record(value * value) } else { other.record(value * value) }
      both.record(value * value)
    }
    one.merge(other)
    #expect(one.count == both.count)
    for fraction in stride(from: 0.0, through: 1, by: 0.01) {
      #expect(one.percentile(fraction) == both.percentile(fraction))
    }
  }

  @Test("An empty histogram has only zeros")
  func empty() { #expect(Histogram().percentile(0.99) == 0) }
}
