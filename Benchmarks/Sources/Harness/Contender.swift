/// One side of a workload.
public struct Contender {
  /// Its name in the report.
  public let name: String
  /// The ratio that Holdfast should reach against it, if somebody asked for one.
  public let bar: Double?
  /// The same for the 99th percentile of the latencies.
  public let tailBar: Double?
  /// How many operations it does for each that the slice asks for: two threads do two.
  public let weight: Int
  /// Does the work of a slice and returns a sum made of what it read.
  public let run: (Slice) throws -> UInt64

  /// Makes a contender.
  ///
  /// - Parameters:
  ///   - name: Its name in the report.
  ///   - bar: The ratio that Holdfast should reach against it.
  ///   - tailBar: The same for the 99th percentile of the latencies.
  ///   - weight: How many operations it does for each that the slice asks for.
  ///   - run: Does the work of a slice.
  public init(
    _ name: String, bar: Double? = nil, tailBar: Double? = nil, weight: Int = 1,
    run: @escaping (Slice) throws -> UInt64
  ) {
    self.name = name
    self.bar = bar
    self.tailBar = tailBar
    self.weight = weight
    self.run = run
  }
}
