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

/// One of `1 << bits` places for the calling thread, of which each thread has its own, mostly.
@inline(__always)
package func currentThreadPlace(bits: Int) -> Int {
  // The upper bits of a product depend on all bits of the factors (Fibonacci hashing).
  Int(truncatingIfNeeded: (UInt64(currentThread()) &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bits))
}
