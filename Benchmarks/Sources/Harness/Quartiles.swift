/// Median and quartiles of a sample.
public struct Quartiles: Sendable, Hashable {
  /// A quarter of the sample lies below.
  public var q25: Double
  /// Half of the sample lies below.
  public var median: Double
  /// A quarter of the sample lies above.
  public var q75: Double

  /// The quartiles of a sample, interpolated linearly between its elements (type 7 of Hyndman and Fan).
  ///
  /// - Parameter sample: In any order; an empty one has no quartiles, and gives not-a-number.
  public init(of sample: [Double]) {
    let sorted = sample.sorted()
    func quantile(_ fraction: Double) -> Double {
      guard let last = sorted.indices.last else { return .nan }
      let place = fraction * Double(last)
      let index = Int(place)
      let next = min(index + 1, last)
      return sorted[index] + (place - Double(index)) * (sorted[next] - sorted[index])
    }
    q25 = quantile(0.25)
    median = quantile(0.5)
    q75 = quantile(0.75)
  }

  /// The same number thrice, for what is counted and not measured.
  public init(exactly value: Double) {
    q25 = value
    median = value
    q75 = value
  }
}
