import LMDB
import Synchronization

/// An entry that was asked for.
struct Touch: Sendable {
  let slot: Int32
  let hash: UInt64
}

/// Look-ups that the evictor has not heard of yet: each thread has a stripe of its own as far as there are enough, so
/// that the order of its look-ups is kept. A few are lost when threads meet, or when nobody comes to take them.
final class TouchBuffer: Sendable {
  private let stripes = (0..<8).map { _ in Guarded<[Touch]>([]) }
  /// A bit for each stripe that is not empty.
  private let filled = Atomic<UInt8>(0)
  /// How many a stripe holds.
  private static let capacity = 64

  /// Notes a look-up.
  ///
  /// - Returns: Whether the stripe is full, and somebody should take what is in it.
  func note(_ touch: Touch) -> Bool {
    let stripe = currentThreadPlace(bits: 3)
    let isFull = stripes[stripe].tryUpdate { touches in
      if touches.count < Self.capacity { touches.append(touch) }
      return touches.count >= Self.capacity
    }
    let bit = UInt8(1) << UInt8(stripe)
    if filled.load(ordering: .relaxed) & bit == 0 { filled.bitwiseOr(bit, ordering: .releasing) }
    return isFull ?? false
  }

  /// Takes all look-ups, in the order of each thread.
  func drain(_ body: (Touch) -> Void) {
    guard filled.load(ordering: .relaxed) != 0 else { return }
    let bits = filled.exchange(0, ordering: .acquiring)
    for index in stripes.indices where bits >> UInt8(index) & 1 == 1 {
      stripes[index].update { touches in
        touches.forEach(body)
        touches.removeAll(keepingCapacity: true)
      }
    }
  }
}
