#if canImport(Darwin)
  import Darwin
#endif

/// The time between two starts of the machine.
package enum BootSession {
  /// What names the running one: the kernel's random id of this boot.
  ///
  /// - Throws: `io` if the system does not tell.
  package static func id() throws(StoreError) -> [UInt8] {
    #if canImport(Darwin)
      var length = 0
      guard unsafe sysctlbyname("kern.bootsessionuuid", nil, &length, nil, 0) == 0 else {
        throw .posix(errno, "read kern.bootsessionuuid")
      }
      var bytes = [UInt8](repeating: 0, count: length)
      guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &length, nil, 0) == 0 else {
        throw .posix(errno, "read kern.bootsessionuuid")
      }
      return Array(bytes.prefix { $0 != 0 }.prefix(36))
    #else
      return try File("/proc/sys/kernel/random/boot_id", .read).read(36, at: 0)
    #endif
  }
}
