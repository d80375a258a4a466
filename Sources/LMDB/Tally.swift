import Synchronization

/// A count that many threads add to at once, each on a cache line of its own, mostly.
@safe
package final class Tally: @unchecked Sendable {
  // Sendable: the memory is read and written by atomic operations only.
  private static let bits = 4
  private static let count = 1 << bits

  /// A part of the sum, alone on two cache lines, which are fetched together.
  private struct Part: ~Copyable {
    let number = Atomic(0)
    private let padding = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  }

  private let parts: UnsafeMutablePointer<Part>

  package init() {
    unsafe parts = .allocate(capacity: Self.count)
    for index in 0..<Self.count { unsafe (parts + index).initialize(to: Part()) }
  }

  deinit {
    unsafe parts.deinitialize(count: Self.count)
    unsafe parts.deallocate()
  }

  /// Counts one.
  package func increase() {
    unsafe parts[currentThreadPlace(bits: Self.bits)].number.add(1, ordering: .relaxed)
  }

  /// How many were counted.
  package var sum: Int {
    (0..<Self.count).reduce(0) { unsafe $0 + parts[$1].number.load(ordering: .relaxed) }
  }
}
