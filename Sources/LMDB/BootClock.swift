#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Time that nobody can set: counted since the system was started, sleep included.
package enum BootClock {
  /// Milliseconds since the system was started.
  package static func milliseconds() -> Int64 {
    var time = timespec()
    #if canImport(Darwin)
      // Goes on in sleep, unlike the clock of the same name on Linux.
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    #else
      unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    #endif
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Names this run of the system; empty where the system does not say, so that no two runs look like one.
  package static let id: String = {
    #if canImport(Darwin)
      var size = 0
      guard unsafe sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return "" }
      var bytes = [UInt8](repeating: 0, count: size)
      guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return "" }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
      guard let file = try? File("/proc/sys/kernel/random/boot_id", .read), let bytes = try? file.read(36, at: 0) else {
        return ""
      }
      return String(decoding: bytes, as: UTF8.self)
    #endif
  }()
}
