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
}
