#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Work that blocks, and so must not run on a thread that tasks share.
package enum Background {
  /// Runs `work` on a thread of its own, and suspends until it is done.
  ///
  /// - Parameter work: Runs once. If the system has no room for another thread, it runs on this one.
  package static func run(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      let box = unsafe Unmanaged.passRetained(
        Box {
          work()
          continuation.resume()
        })
      #if canImport(Darwin)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let code = unsafe pthread_create(
        &thread, nil,
        { context in
          if let context = unsafe context { unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().work() }
          return nil
        }, unsafe box.toOpaque())
      guard code == 0 else { return unsafe box.takeRetainedValue().work() }
      #if canImport(Darwin)
        if let thread = unsafe thread { unsafe pthread_detach(thread) }
      #else
        pthread_detach(thread)
      #endif
    }
  }

  private final class Box: Sendable {
    let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
  }
}
