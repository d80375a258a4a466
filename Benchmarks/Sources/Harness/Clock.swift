#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a slice of work is timed with.
public enum Clock: String, Sendable, Codable {
  /// Time as it passes; what counts where a device or another thread is waited for.
  case wall
  /// CPU time of this thread; what counts for reads, since other processes do not disturb it.
  case thread
  /// CPU time of all threads of this process.
  case process
  /// CPU time of processes that this one has started and waited for.
  case children

  /// The reading in nanoseconds.
  public var now: UInt64 {
    if self == .children { return Self.childrenTime }
    var time = timespec()
    let id =
      switch self {
      case .wall: CLOCK_MONOTONIC
      case .thread: CLOCK_THREAD_CPUTIME_ID
      case .process, .children: CLOCK_PROCESS_CPUTIME_ID
      }
    unsafe clock_gettime(id, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private static var childrenTime: UInt64 {
    var usage = rusage()
    // RUSAGE_CHILDREN, whose Swift type differs between the C libraries.
    unsafe getrusage(-1, &usage)
    func nanoseconds(_ time: timeval) -> UInt64 { UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000 }
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
  }
}
