#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the time comes from, so that tests can set it.
struct SystemTime: Sendable {
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64
  /// Suspends the task; returns early, with an error, when it is cancelled.
  let sleep: @Sendable (Duration) async throws -> Void

  static let real = SystemTime(
    now: { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) },
    sleep: { try await Task.sleep(for: $0) })
}
