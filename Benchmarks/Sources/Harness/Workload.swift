/// What all contenders of a comparison do.
public struct Workload {
  /// How many operations a slice has.
  public enum Size: Sendable {
    /// As many as take ours the time of a slice, up to a limit.
    case calibrated(upTo: Int)
    /// This many.
    case fixed(Int)
  }

  /// What the report counts.
  public enum Unit: Sendable {
    /// Nanoseconds an operation.
    case nanoseconds
    /// Operations a second.
    case rate
  }

  /// Its name in the report.
  public var name: String
  /// What survives what, for all contenders.
  public var durability: Durability
  /// What it is timed with.
  public var clock: Clock
  /// What the report counts.
  public var unit: Unit
  /// How many operations a slice has.
  public var size: Size
  /// How many rounds are measured; `nil` is what the run has for all.
  public var rounds: Int?
  /// Whether all contenders must have read the same.
  public var comparesSums: Bool
  /// Whether each slice is done twice and timed the second time, when all it needs is in the processor's caches.
  public var isHot = false

  /// A workload that only computes: timed in CPU time of the thread.
  public static func reading(
    _ name: String, _ durability: Durability = .powerLossSafe, upTo limit: Int = 1 << 20, comparesSums: Bool = true
  ) -> Workload {
    Workload(
      name: name, durability: durability, clock: .thread, unit: .nanoseconds, size: .calibrated(upTo: limit),
      rounds: nil, comparesSums: comparesSums)
  }

  /// The same with what has just been read.
  public static func hotReading(_ name: String, upTo limit: Int) -> Workload {
    var workload = reading(name, upTo: limit)
    workload.isHot = true
    return workload
  }

  /// A workload that waits for something: timed as time passes.
  public static func waiting(
    _ name: String, _ durability: Durability, operations: Int, rounds: Int? = nil, comparesSums: Bool = false
  ) -> Workload {
    Workload(
      name: name, durability: durability, clock: .wall, unit: .rate, size: .fixed(operations), rounds: rounds,
      comparesSums: comparesSums)
  }
}
