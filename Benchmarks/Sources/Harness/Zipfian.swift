import Foundation

/// Numbers of which a few come up most of the time, as YCSB draws them: rank r with a probability of 1/r^0.99 (Gray et
/// al., Quickly Generating Billion-Record Synthetic Databases, 1994), ranks spread over the numbers by a hash.
public struct Zipfian {
  private let count: Int
  private let theta = 0.99
  private let zeta: Double
  private let eta: Double

  /// Makes a generator.
  ///
  /// - Parameter count: How many numbers there are.
  public init(count: Int) {
    self.count = count
    zeta = (1...max(1, count)).reduce(0) { $0 + 1 / pow(Double($1), 0.99) }
    let zeta2 = 1 + 1 / pow(2, 0.99)
    eta = (1 - pow(2 / Double(count), 1 - 0.99)) / (1 - zeta2 / zeta)
  }

  /// A rank: 0 is the most frequent.
  ///
  /// - Parameter random: Where the chance comes from.
  /// - Returns: 0 to `count - 1`.
  public func rank(_ random: inout Random) -> Int {
    let u = Double(random.next() >> 11) * 0x1p-53
    let uz = u * zeta
    if uz < 1 { return 0 }
    if uz < 1 + pow(0.5, theta) { return 1 }
    return min(count - 1, Int(Double(count) * pow(eta * u - eta + 1, 1 / (1 - theta))))
  }

  /// A number whose frequency says nothing of its size.
  ///
  /// - Parameter random: Where the chance comes from.
  /// - Returns: 0 to `count - 1`.
  public func next(_ random: inout Random) -> Int {
    var hash = Random(seed: UInt64(rank(&random)))
    return hash.below(count)
  }
}
