public import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A table of numbers that threads read and write without a lock; what one place holds says nothing about another.
@safe
@usableFromInline
package final class AtomicTable: @unchecked Sendable {
  // Sendable: the memory is read and written by atomic operations only.
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt32>>
  @usableFromInline let mask: Int

  /// Makes a table of zeros, whose memory is not touched before it is used.
  ///
  /// - Parameter count: How many places; a power of two.
  package init(count: Int) {
    precondition(count > 0 && count & (count - 1) == 0, "A table has a power of two of places.")
    guard let memory = unsafe calloc(count, MemoryLayout<Atomic<UInt32>>.stride) else {
      preconditionFailure("The system has no memory for a table of \(count) numbers.")
    }
    unsafe words = memory.bindMemory(to: Atomic<UInt32>.self, capacity: count)
    mask = count - 1
  }

  deinit { unsafe free(words) }

  /// The number at a place; of the place's bits, as many count as the table has.
  @inlinable
  package func load(_ place: Int) -> UInt32 { unsafe words[place & mask].load(ordering: .relaxed) }

  /// Replaces the number at a place.
  @inlinable
  package func store(_ number: UInt32, _ place: Int) { unsafe words[place & mask].store(number, ordering: .relaxed) }
}
