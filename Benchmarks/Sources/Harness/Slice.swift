/// A piece of work, the same for all contenders of a round.
public final class Slice {
  /// Which round it belongs to; warm-up rounds come first.
  public let round: Int
  /// How many operations to do.
  public let operations: Int
  /// Where the slice begins in an endless sequence of operations: no two rounds overlap.
  public var start: Int { round * operations }
  /// The durations of single operations, where a workload times them.
  public var latencies = Histogram()

  init(round: Int, operations: Int) {
    self.round = round
    self.operations = operations
  }

  /// Does one operation and records how long it took.
  ///
  /// - Parameter body: The operation.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  @discardableResult
  public func timed<R>(_ body: () throws -> R) rethrows -> R {
    let begin = Clock.wall.now
    let result = try body()
    latencies.record(Clock.wall.now - begin)
    return result
  }
}
