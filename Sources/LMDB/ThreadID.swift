#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A number that no other living thread of this process has; never zero.
package typealias ThreadID = UInt

/// The calling thread.
@inline(__always)
package func currentThread() -> ThreadID {
  #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}
