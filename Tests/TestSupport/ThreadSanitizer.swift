#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

package enum ThreadSanitizer {
  /// Whether the tests run under it: then each look at a global takes a lock of Swift's runtime (swift_once, 6.3), also
  /// when it has long been made. A child that is forked meanwhile has the lock and not the thread that would let it go.
  package static let isOn = unsafe dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil
}
