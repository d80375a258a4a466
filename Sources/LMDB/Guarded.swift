public import Synchronization

/// State behind a lock that costs two atomic exchanges while nobody waits, and is compiled into its caller.
///
/// For what is held for a few stores only; whoever finds it taken tries again a few times and then sleeps. The lock is
/// made of ``Atomic`` operations that are compiled here, so that the thread sanitizer sees them, other than those of
/// the standard library's `Mutex`.
@safe
@usableFromInline
package final class Guarded<State>: @unchecked Sendable {
  // Sendable: `state` is touched only by who has changed `word` from `free`.
  @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt32>>
  @usableFromInline let state: UnsafeMutablePointer<State>

  @inlinable static var free: UInt32 { 0 }
  @inlinable static var taken: UInt32 { 1 }
  /// Taken, and somebody may be asleep.
  @inlinable static var contended: UInt32 { 2 }
  /// Where the state begins in the memory of both. Two guarded states share no cache line: the memory is aligned to
  /// 128 bytes, two lines of most processors, which are fetched together.
  private static var offset: Int { 16 }
  private static var alignment: Int { 128 }

  package init(_ initial: consuming sending State) {
    precondition(MemoryLayout<State>.alignment <= Self.offset, "No state is aligned to more than 16 bytes.")
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: (Self.offset + MemoryLayout<State>.size + Self.alignment - 1) & ~(Self.alignment - 1),
      alignment: Self.alignment)
    unsafe word = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1)
    unsafe state = (memory + Self.offset).bindMemory(to: State.self, capacity: 1)
    unsafe word.initialize(to: Atomic(Self.free))
    unsafe state.initialize(to: initial)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe word.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(word).deallocate()
  }

  /// Runs `body` alone. It must not come back to the same state.
  @inlinable
  package func update<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    if unsafe !word.pointee.compareExchange(expected: Self.free, desired: Self.taken, ordering: .acquiring).exchanged {
      waitForTurn()
    }
    defer { release() }
    return unsafe try body(&state.pointee)
  }

  /// Runs `body` alone if nobody else is at it.
  ///
  /// - Returns: What `body` returns, or `nil` if it did not run.
  @inlinable
  package func tryUpdate<R>(_ body: (inout State) -> R) -> R? {
    guard
      unsafe word.pointee.compareExchange(expected: Self.free, desired: Self.taken, ordering: .acquiring).exchanged
    else { return nil }
    defer { release() }
    return unsafe body(&state.pointee)
  }

  @inlinable
  func release() {
    if unsafe word.pointee.exchange(Self.free, ordering: .releasing) == Self.contended { wakeOthers() }
  }

  @usableFromInline
  func waitForTurn() {
    for _ in 0..<100 {
      if unsafe word.pointee.load(ordering: .relaxed) == Self.free,
        unsafe word.pointee.compareExchange(expected: Self.free, desired: Self.taken, ordering: .acquiring).exchanged
      {
        return
      }
    }
    // The exchange and the sleep are one step to whoever wakes, since it needs the parking lot's lock for that.
    parkingLot.wait { _ in
      unsafe word.pointee.exchange(Self.contended, ordering: .acquiring) == Self.free ? () : nil
    }
  }

  @usableFromInline
  func wakeOthers() { parkingLot.update { $0 &+= 1 } }
}

/// Where threads sleep that found a guarded state taken; how often they were woken. One for all: it is rarely visited.
/// An empty state would have the address of the monitor's own fields, which the thread sanitizer takes for a race.
private let parkingLot = Monitor(0)
