import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tells a process from the child that `fork()` makes of it.
///
/// A child inherits the map and the parent's reader slots. Whatever it does with them it does to the parent, so that
/// every call fails there. Counting forks costs one load where `getpid` is a system call.
enum ForkGuard {
  private static let forks = Atomic<Int>(0)

  /// The lock of the registry is held meanwhile: of another thread that has it, a child has the lock and not the thread,
  /// and could never open anything.
  private static let isInstalled =
    pthread_atfork(
      { Registry.shared.lock() }, { Registry.shared.unlock() },
      {
        ForkGuard.forks.add(1, ordering: .relaxed)
        Registry.shared.unlock()
      }) == 0

  /// Counts the forks that lie between the first process and this one.
  @inline(__always)
  static var generation: Int { forks.load(ordering: .relaxed) }

  /// Starts counting.
  ///
  /// - Returns: The present generation.
  static func start() -> Int {
    precondition(isInstalled, "The system has no room for a fork handler.")
    return generation
  }
}
