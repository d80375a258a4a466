/// How urgently memory is wanted.
public enum MemoryPressure: Sendable, Hashable, CaseIterable {
  /// There is little left.
  case warning
  /// The system is about to end processes.
  case critical
  /// The app went into the background, where those that take much are ended first.
  case background
}

/// Which part of its content a memory cache keeps when memory is wanted.
public struct MemoryPressureResponse: Sendable, Hashable {
  /// The part kept at a warning, 0 to 1.
  public var keptOnWarning: Double
  /// The part kept when memory is critical, 0 to 1.
  public var keptOnCritical: Double
  /// The part kept in the background, 0 to 1.
  public var keptInBackground: Double

  /// Makes a response; by default half of the content, nothing, and a tenth are kept.
  public init(keptOnWarning: Double = 0.5, keptOnCritical: Double = 0, keptInBackground: Double = 0.1) {
    self.keptOnWarning = keptOnWarning
    self.keptOnCritical = keptOnCritical
    self.keptInBackground = keptInBackground
  }

  func kept(_ pressure: MemoryPressure) -> Double {
    let part =
      switch pressure {
      case .warning: keptOnWarning
      case .critical: keptOnCritical
      case .background: keptInBackground
      }
    return min(max(part, 0), 1)
  }
}

struct MemoryPressureState: Sendable {
  var response = MemoryPressureResponse()
  var handler: (@Sendable (MemoryPressure) -> Void)?
  var observers: [Task<Void, Never>] = []
}
