#if os(Linux)
  import Glibc

  /// Threads that wait for the kernel, so that none of the cooperative pool has to.
  enum ServiceThread {
    private final class Body {
      let run: () -> Void
      init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread, which takes no signals: those belong to the program, and a connection that breaks
    /// must not end it with SIGPIPE.
    ///
    /// - Returns: Whether the system had room for a thread.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
      var all = sigset_t()
      var former = sigset_t()
      unsafe sigfillset(&all)
      unsafe pthread_sigmask(SIG_SETMASK, &all, &former)
      defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
      let context = unsafe Unmanaged.passRetained(Body(body))
      var thread = pthread_t()
      let code = unsafe pthread_create(
        &thread, nil,
        { context in
          if let context = unsafe context { unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
          return nil
        }, unsafe context.toOpaque())
      if code != 0 {
        unsafe context.release()
        return false
      }
      pthread_detach(thread)
      return true
    }
  }
#endif
