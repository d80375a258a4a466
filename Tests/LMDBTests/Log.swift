import Synchronization

/// A list that threads append to.
final class Log: Sendable {
  private let state = Mutex<[String]>([])
  var entries: [String] { state.withLock { $0 } }
  func append(_ entry: String) { state.withLock { $0.append(entry) } }
}
