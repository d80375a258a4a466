import LMDB

/// A list that threads append to.
final class Log: Sendable {
  private let state = Monitor<[String]>([])
  var entries: [String] { state.update { $0 } }
  func append(_ entry: String) { state.update { $0.append(entry) } }
}
