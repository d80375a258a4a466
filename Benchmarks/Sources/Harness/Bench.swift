/// Measures workloads and collects what it finds.
///
/// Contenders take turns, slice by slice, so that whatever else the machine does disturbs all of them alike; ratios are
/// those of slices of one round, and their median and quartiles are what is reported.
public final class Bench {
  /// How long a run may take.
  public struct Effort: Sendable {
    /// How many rounds are measured, after two that are not: at least so many, and more while the ratios spread.
    public var rounds: ClosedRange<Int>
    /// How long a workload may go on after its first rounds, in nanoseconds.
    public var workloadTime: UInt64
    /// How long a slice of ours takes, in nanoseconds.
    public var sliceTime: UInt64
    /// Whether the run is a short one, with smaller stores.
    public var isQuick: Bool

    /// Makes an effort.
    public init(rounds: ClosedRange<Int>, workloadTime: UInt64, sliceTime: UInt64, isQuick: Bool) {
      self.rounds = rounds
      self.workloadTime = workloadTime
      self.sliceTime = sliceTime
      self.isQuick = isQuick
    }

    /// The whole thing.
    public static let full = Effort(
      rounds: 25...101, workloadTime: 20_000_000_000, sliceTime: 8_000_000, isQuick: false)
    /// For a look: less than a minute for all suites.
    public static let quick = Effort(
      rounds: 7...41, workloadTime: 600_000_000, sliceTime: 1_500_000, isQuick: true)
  }

  /// How much effort to make.
  public let effort: Effort
  /// A directory for stores, on a file system whose flushes are real.
  public let directory: String
  /// What has been found so far.
  public private(set) var rows: [Row] = []
  /// Told of each row when it is there.
  public var onRow: (Row) -> Void = { _ in }
  /// The suite that the rows belong to.
  public var suite = ""
  /// Only workloads whose names contain this are run and reported, if there is one.
  public var filter: String?

  /// Makes a bench.
  ///
  /// - Parameters:
  ///   - effort: How much effort to make.
  ///   - directory: A directory for stores.
  public init(effort: Effort, directory: String) {
    self.effort = effort
    self.directory = directory
  }

  /// `full` in a full run, `quick` in a quick one.
  ///
  /// - Parameters:
  ///   - full: For a full run.
  ///   - quick: For a quick one.
  /// - Returns: One of them.
  public func choose<T>(_ full: T, quick: T) -> T { effort.isQuick ? quick : full }

  /// Adds a row that is counted, or measured in a way of its own.
  ///
  /// - Parameters:
  ///   - name: The workload.
  ///   - durability: What survives what.
  ///   - peer: The other side.
  ///   - ours: Our figure.
  ///   - theirs: The peer's.
  ///   - unit: What both count.
  ///   - ratio: Above 1, Holdfast is better.
  ///   - bar: The ratio asked for.
  public func add(
    _ name: String, _ durability: Durability, peer: String, ours: Double, theirs: Double, unit: String,
    ratio: Quartiles, bar: Double? = nil
  ) {
    guard filter.map({ name.contains($0) }) ?? true else { return }
    let row = Row(
      suite: suite, name: name, durability: durability, peer: peer, ours: ours, theirs: theirs, unit: unit,
      ratio: ratio, bar: bar)
    rows.append(row)
    onRow(row)
  }

  /// Adds a row for a figure that must not exceed a limit.
  ///
  /// - Parameters:
  ///   - name: What is limited.
  ///   - durability: What survives what.
  ///   - sample: Measurements of it.
  ///   - limit: The most it may be.
  ///   - unit: What it counts.
  public func add(_ name: String, _ durability: Durability, sample: [Double], limit: Double, unit: String) {
    let quartiles = Quartiles(of: sample)
    let ratio = Quartiles(of: sample.map { limit / $0 })
    add(
      name, durability, peer: "limit", ours: quartiles.median, theirs: limit, unit: unit, ratio: ratio, bar: 1)
  }
}
