/// What the system says about the way to the network.
///
/// A hint, never a verdict: a network that is there may lead to a captive portal, and one that seems to be gone may
/// still lead to the server.
public struct NetworkStatus: Sendable, Hashable {
  /// Whether there seems to be a way out.
  public var isReachable: Bool
  /// Whether the way is likely to be paid by volume, such as a cellular network.
  public var isExpensive: Bool
  /// Whether the user has asked the system to save data.
  public var isConstrained: Bool

  /// Makes a status.
  ///
  /// - Parameters:
  ///   - isReachable: Whether there seems to be a way out.
  ///   - isExpensive: Whether the way is likely to be paid by volume.
  ///   - isConstrained: Whether the user has asked to save data.
  public init(isReachable: Bool, isExpensive: Bool = false, isConstrained: Bool = false) {
    self.isReachable = isReachable
    self.isExpensive = isExpensive
    self.isConstrained = isConstrained
  }
}

/// Tells when the way to the network comes and goes, so that a drain need not try in vain.
public protocol NetworkMonitor: Sendable {
  /// The present status at once, then each one that differs from the one before. A drain begins when it has the first.
  ///
  /// Each call starts a sequence of its own, which ends only with the task that reads it. Between changes nothing runs.
  /// Of several changes that have not been read, the last is kept.
  func statuses() -> AsyncStream<NetworkStatus>
}

/// A monitor that takes the network for granted: every attempt is made, and its failure is what tells.
public struct AlwaysReachable: NetworkMonitor {
  /// Makes a monitor.
  public init() {}

  /// One status, and never another.
  public func statuses() -> AsyncStream<NetworkStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { $0.yield(NetworkStatus(isReachable: true)) }
  }
}
