#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system's source of unpredictable bytes.
package enum SystemRandom {
  /// So many random bytes, with one system call for each 256 of them; `SystemRandomNumberGenerator` makes one for each 8.
  package static func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    #if canImport(Darwin)
      unsafe arc4random_buf(&bytes, count)
    #else
      var start = 0
      while start < count {
        let length = min(256, count - start)
        let code = unsafe bytes.withUnsafeMutableBytes { bytes in
          unsafe getentropy(UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + length]).baseAddress, length)
        }
        // Where the call is forbidden, the standard library has its own way.
        if code != 0 {
          for index in start..<start + length { bytes[index] = .random(in: 0 ... .max) }
        }
        start += length
      }
    #endif
    return bytes
  }
}
