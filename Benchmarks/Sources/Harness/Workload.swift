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
  /// The most rounds that it has work for, the first two included; `nil` if there is no end.
  public var roundLimit: Int?
  /// What the CPU time beside wall time is taken with: all threads where a contender has several.
  public var cpuClock = Clock.thread
  /// Whether all contenders must have read the same.
  public var comparesSums: Bool
  /// Whether each slice is done twice and timed the second time, when all it needs is in the processor's caches.
  public var isHot = false

  /// Makes a workload.
  public init(
    name: String, durability: Durability, clock: Clock, unit: Unit, size: Size, roundLimit: Int?, comparesSums: Bool
  ) {
    self.name = name
    self.durability = durability
    self.clock = clock
    self.unit = unit
    self.size = size
    self.roundLimit = roundLimit
    self.comparesSums = comparesSums
  }

  /// A workload that only computes: timed in CPU time of the thread.
  public static func reading(
    _ name: String, _ durability: Durability = .powerLossSafe, upTo limit: Int = 1 << 20, comparesSums: Bool = true
  ) -> Workload {
    Workload(
      name: name, durability: durability, clock: .thread, unit: .nanoseconds, size: .calibrated(upTo: limit),
      roundLimit: nil, comparesSums: comparesSums)
  }

  /// The same with what has just been read.
  public static func hotReading(_ name: String, upTo limit: Int) -> Workload {
    var workload = reading(name, upTo: limit)
    workload.isHot = true
    return workload
  }

  /// A workload that waits for something: timed as time passes.
  public static func waiting(
    _ name: String, _ durability: Durability, operations: Int, roundLimit: Int? = nil, comparesSums: Bool = false
  ) -> Workload {
    Workload(
      name: name, durability: durability, clock: .wall, unit: .rate, size: .fixed(operations),
      roundLimit: roundLimit, comparesSums: comparesSums)
  }

  /// A workload that writes and waits for nothing: timed in CPU time of the thread, which leaves out what an engine
  /// does in the background.
  public static func writing(
    _ name: String, operations: Int, roundLimit: Int, comparesSums: Bool = false
  ) -> Workload {
    Workload(
      name: name, durability: .processCrashSafe, clock: .thread, unit: .rate, size: .fixed(operations),
      roundLimit: roundLimit, comparesSums: comparesSums)
  }

  /// The same workload of contenders with several threads.
  public var withThreads: Workload {
    var workload = self
    workload.cpuClock = .process
    return workload
  }
}
