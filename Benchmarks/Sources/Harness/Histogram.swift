/// Counts of durations in buckets whose width is at most 1/1024 of their value: three significant digits, as an HDR
/// histogram has them.
public struct Histogram: Sendable {
  /// Buckets of one power of two.
  private static let bits = 10
  private var counts: [UInt32] = []
  /// How many durations have been recorded.
  public private(set) var count = 0
  /// The longest of them, exactly.
  public private(set) var maximum: UInt64 = 0

  /// Makes an empty one.
  public init() {}

  /// Adds a duration.
  ///
  /// - Parameter nanoseconds: The duration.
  public mutating func record(_ nanoseconds: UInt64) {
    let index = Self.index(of: nanoseconds)
    if index >= counts.count { counts += repeatElement(0, count: index + 1 - counts.count) }
    counts[index] += 1
    count += 1
    maximum = max(maximum, nanoseconds)
  }

  /// Adds all durations of another one.
  ///
  /// - Parameter other: The other.
  public mutating func merge(_ other: Histogram) {
    if other.counts.count > counts.count { counts += repeatElement(0, count: other.counts.count - counts.count) }
    for (index, number) in other.counts.enumerated() { counts[index] += number }
    count += other.count
    maximum = max(maximum, other.maximum)
  }

  /// The duration that a fraction of all do not exceed.
  ///
  /// - Parameter fraction: From 0 to 1, such as 0.99.
  /// - Returns: Nanoseconds, at most 1/1024 too many; 0 if nothing was recorded.
  public func percentile(_ fraction: Double) -> UInt64 {
    let wanted = max(1, Int((fraction * Double(count)).rounded(.up)))
    var seen = 0
    for (index, number) in counts.enumerated() where number > 0 {
      seen += Int(number)
      if seen >= wanted { return min(Self.upperEnd(of: index), maximum) }
    }
    return maximum
  }

  private static func index(of value: UInt64) -> Int {
    let magnitude = UInt64.bitWidth - value.leadingZeroBitCount
    let shift = max(0, magnitude - bits - 1)
    return shift << bits + Int(value >> UInt64(shift))
  }

  private static func upperEnd(of index: Int) -> UInt64 {
    let shift = max(0, index >> bits - 1)
    let base = UInt64(index - shift << bits)
    return (base + 1) << UInt64(shift) - 1
  }
}
