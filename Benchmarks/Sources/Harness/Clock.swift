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

  /// The reading in nanoseconds.
  public var now: UInt64 {
    var time = timespec()
    let id =
      switch self {
      case .wall: CLOCK_MONOTONIC
      case .thread: CLOCK_THREAD_CPUTIME_ID
      case .process: CLOCK_PROCESS_CPUTIME_ID
      }
    unsafe clock_gettime(id, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
