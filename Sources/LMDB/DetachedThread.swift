#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Threads for work that blocks, which none of those that tasks share may do.
package enum DetachedThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread, which nobody joins.
  ///
  /// It takes no signals but those of its own faults: the others belong to the program, and a connection that breaks must
  /// not end it with `SIGPIPE`.
  ///
  /// - Returns: 0, or the system's code if it has no room for a thread; `body` is not run then.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
    var blocked = sigset_t()
    var former = sigset_t()
    unsafe sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { unsafe sigdelset(&blocked, fault) }
    unsafe pthread_sigmask(SIG_SETMASK, &blocked, &former)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
    // Detached from the start: it may have ended before anybody could say so.
    var attributes = pthread_attr_t()
    let failure = unsafe pthread_attr_init(&attributes)
    guard failure == 0 else { return failure }
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let context = unsafe Unmanaged.passRetained(Body(body))
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let code = unsafe pthread_create(
      &thread, &attributes,
      { context in
        if let context = unsafe context { unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, unsafe context.toOpaque())
    if code != 0 { unsafe context.release() }
    return code
  }
}
