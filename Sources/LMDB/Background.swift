/// Work that blocks, and so must not run on a thread that tasks share.
package enum Background {
  /// Runs `work` on a thread of its own, and suspends until it is done.
  ///
  /// - Parameter work: Runs once. If the system has no room for another thread, it runs on this one.
  package static func run(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      let body: @Sendable () -> Void = {
        work()
        continuation.resume()
      }
      if DetachedThread.start(body) != 0 { body() }
    }
  }

  /// As ``run(_:)-(()->())``, for work that has a result or throws.
  package static func run<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
    let outcome = Monitor<Result<R, any Error>?>(nil)
    await run { () -> Void in
      let result = Result { try work() }
      outcome.update { $0 = result }
    }
    guard let result = outcome.update({ $0 }) else { throw CancellationError() }
    return try result.get()
  }
}
