public import Holdfast

#if canImport(Network)
  import Network
#elseif os(Linux)
  import Networking
#endif

/// Watches the network of this device, without a timer.
///
/// On Apple's systems this is `NWPathMonitor`. On Linux the kernel's messages about links and addresses (rtnetlink) are
/// read on a thread of its own: the network is reachable while an interface other than the loopback is up, has a
/// carrier, and has an address that reaches beyond the link. Where the system does not let the process watch, the
/// network is taken for granted.
public struct SystemNetworkMonitor: NetworkMonitor {
  /// Makes a monitor; nothing is watched before somebody reads.
  public init() {}

  /// The present status at once, then each one that differs. Each call starts a sequence, and a thread, of its own.
  public func statuses() -> AsyncStream<NetworkStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      #if canImport(Network)
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in
          continuation.yield(
            NetworkStatus(
              isReachable: path.status == .satisfied, isExpensive: path.isExpensive,
              isConstrained: path.isConstrained))
        }
        continuation.onTermination = { _ in monitor.cancel() }
        monitor.start(queue: .global(qos: .utility))
      #elseif os(Linux)
        let watcher = LinkWatcher { continuation.yield(NetworkStatus(isReachable: $0)) }
        guard let watcher else {
          continuation.yield(NetworkStatus(isReachable: true))
          return
        }
        continuation.onTermination = { _ in watcher.stop() }
      #else
        continuation.yield(NetworkStatus(isReachable: true))
      #endif
    }
  }
}
