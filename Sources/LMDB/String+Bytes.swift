#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension String {
  /// Whether the UTF-8 bytes are the same; `==` also holds for texts that are written with other bytes.
  package func hasSameBytes(as other: String) -> Bool {
    let compared = unsafe utf8.withContiguousStorageIfAvailable { mine -> Bool? in
      unsafe other.utf8.withContiguousStorageIfAvailable { theirs -> Bool in
        guard mine.count == theirs.count else { return false }
        guard let a = mine.baseAddress, let b = theirs.baseAddress else { return true }
        return unsafe memcmp(a, b, mine.count) == 0
      }
    }
    // Only a string that Foundation keeps has no contiguous bytes.
    return (compared ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
