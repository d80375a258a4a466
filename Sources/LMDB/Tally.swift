import Synchronization

/// A count that many threads add to at once, each on a cache line of its own, mostly.
@safe
package final class Tally: @unchecked Sendable {
  // Sendable: the memory is read and written by atomic operations only.
  private static let count = 16

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
    let part = Int((currentThread() &* 0x9E37_79B9_7F4A_7C15) >> 60) & (Self.count - 1)
    unsafe parts[part].number.add(1, ordering: .relaxed)
  }

  /// How many were counted.
  package var sum: Int {
    (0..<Self.count).reduce(0) { unsafe $0 + parts[$1].number.load(ordering: .relaxed) }
  }
}
