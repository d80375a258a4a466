import CLMDB
public import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A table of numbers that threads read and write without a lock, by keys of which several share a place; what one
/// place holds says nothing about another.
@safe
@usableFromInline
package final class AtomicTable: @unchecked Sendable {
  // Sendable: the memory is read and written by atomic operations only.
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let shift: UInt64

  /// Makes a table of zeros, whose memory is not touched before it is used.
  ///
  /// - Parameter bits: The binary logarithm of the number of places; at least 1.
  package init(bits: Int) {
    let count = 1 << bits
    guard let memory = unsafe calloc(count, MemoryLayout<Atomic<UInt64>>.stride) else {
      preconditionFailure("The system has no memory for a table of \(count) numbers.")
    }
    unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    shift = UInt64(64 - bits)
  }

  deinit { unsafe free(words) }

  /// The number at the place of a key.
  @inlinable
  package func load(_ key: UInt64) -> UInt64 { unsafe words[place(of: key)].load(ordering: .relaxed) }

  /// Replaces the number at the place of a key.
  @inlinable
  package func store(_ number: UInt64, _ key: UInt64) {
    unsafe words[place(of: key)].store(number, ordering: .relaxed)
  }

  /// Replaces the number at the place of a key if it is the one that somebody has seen.
  ///
  /// - Returns: Whether it was, and the number that was there.
  @inlinable
  @inline(__always)
  package func exchange(_ old: UInt64, _ new: UInt64, _ key: UInt64) -> (exchanged: Bool, original: UInt64) {
    unsafe words[place(of: key)].compareExchange(expected: old, desired: new, ordering: .relaxed)
  }

  /// Has the processor fetch the number at the place of a key, which is soon asked for.
  package func prefetch(_ key: UInt64) { unsafe clmdb_prefetch(words + place(of: key)) }

  @inlinable
  @inline(__always)
  func place(of key: UInt64) -> Int { Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> shift) }
}
