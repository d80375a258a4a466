/// A fast pseudo-random generator (SplitMix64) with a seed: each run does the same work.
public struct Random: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator.
  ///
  /// - Parameter seed: The same seed gives the same numbers.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number below a limit.
  ///
  /// - Parameter limit: At least 1.
  /// - Returns: 0 to `limit - 1`, evenly.
  public mutating func below(_ limit: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(limit)).high) }

  /// Numbers below a limit, no two the same.
  ///
  /// - Parameters:
  ///   - count: How many, at most `limit`.
  ///   - limit: At least 1.
  /// - Returns: The numbers, in the order in which they were drawn.
  public mutating func distinct(_ count: Int, below limit: Int) -> [Int] {
    var seen: Set<Int> = []
    var numbers: [Int] = []
    while numbers.count < count {
      let number = below(limit)
      if seen.insert(number).inserted { numbers.append(number) }
    }
    return numbers
  }
}
