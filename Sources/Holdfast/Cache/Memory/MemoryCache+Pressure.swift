// Apple's systems have no FoundationEssentials of its own.
#if canImport(Darwin) && !canImport(FoundationEssentials)
  import Foundation
#endif

extension MemoryCache {
  /// Which part of the content is kept when memory is wanted.
  public var memoryPressureResponse: MemoryPressureResponse {
    get { pressure.update { $0.response } }
    set { pressure.update { $0.response = newValue } }
  }

  /// What is called before the cache shrinks because memory is wanted; on the thread that says so, and without a lock.
  public var didReceiveMemoryPressure: (@Sendable (MemoryPressure) -> Void)? {
    get { pressure.update { $0.handler } }
    set {
      let old = pressure.update { state in
        defer { state.handler = newValue }
        return state.handler
      }
      // What the old one holds ends here, outside the lock.
      withExtendedLifetime(old) {}
    }
  }

  /// Shrinks the cache as ``memoryPressureResponse`` says, and gives unused parts of its tables back.
  ///
  /// On Apple's systems the cache calls this itself when the app gets a memory warning or goes into the background. On
  /// other systems nobody says that memory is short; call it from whatever watches it, such as `/proc/pressure/memory`.
  public func handleMemoryPressure(_ level: MemoryPressure) {
    let (response, handler) = pressure.update { ($0.response, $0.handler) }
    handler?(level)
    let part = response.kept(level)
    if part == 0 { return removeAllObjects() }
    let total = ledger.update { $0.evictor.total }
    _ = trim(to: Amount(count: Int(Double(total.count) * part), cost: Int(Double(total.cost) * part)))
    for shard in shards { shard.update { $0.compact() } }
  }

  func observeMemoryPressure() {
    #if canImport(Darwin)
      // By name, since UIKit is not everywhere.
      let names: [(String, MemoryPressure)] = [
        ("UIApplicationDidReceiveMemoryWarningNotification", .warning),
        ("UIApplicationDidEnterBackgroundNotification", .background),
      ]
      let observers = names.map { name, level in
        Task { [weak self] in
          for await _ in NotificationCenter.default.notifications(named: Notification.Name(name)).map({ _ in () }) {
            self?.handleMemoryPressure(level)
          }
        }
      }
      pressure.update { $0.observers = observers }
    #endif
  }
}
