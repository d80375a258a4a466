#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The time of day, which somebody may set.
package enum WallClock {
  /// Milliseconds since 1970.
  package static func milliseconds() -> Int64 { read(CLOCK_REALTIME) }

  /// As ``milliseconds()``, but of the system's last tick where it says so: up to 10 ms late, at a fifth of the cost.
  package static func roughMilliseconds() -> Int64 {
    #if os(Linux)
      read(CLOCK_REALTIME_COARSE)
    #else
      milliseconds()
    #endif
  }

  @inline(__always)
  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
