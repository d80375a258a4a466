import LMDB

/// The reads of this process that the order of use on disk does not know yet.
///
/// A read notes itself here instead of writing. Later writes take a few notes each. There is room for ``capacity`` of
/// them; a newer one takes the place of an older. What is lost, by that or with the process, is recency only.
///
/// It also tells whether an entry was read before, since when its checksum need not be computed again.
final class DiskCacheTouches: Sendable {
  static let capacity = stripeCount * slotCount
  private static let stripeCount = 16
  private static let slotCount = 128

  /// A read of an entry.
  struct Touch: Sendable, Hashable {
    var version: UInt64
    var stamp: UInt64
    var priority: CachePriority
    /// In ms since 1970.
    var time: Int64
  }

  private struct Slot {
    /// Version 0 is nobody's.
    var touch = Touch(version: 0, stamp: 0, priority: .normal, time: 0)
    var isPending = false
  }

  private struct Stripe {
    var slots = [Slot](repeating: Slot(), count: slotCount)
    var pending = 0
    var hits = 0
    var misses = 0
  }

  private let stripes = (0..<stripeCount).map { _ in Monitor(Stripe()) }

  /// Notes a read.
  ///
  /// - Parameters:
  ///   - touch: The entry, and when.
  ///   - isDue: Whether its place in the order is old enough to be moved.
  /// - Returns: Whether this process has read this version before, as far as is remembered.
  func note(_ touch: Touch, isDue: Bool) -> Bool {
    let (stripe, slot) = Self.place(of: touch.version)
    return stripes[stripe].update { stripe in
      stripe.hits += 1
      let isKnown = touch.version != 0 && stripe.slots[slot].touch.version == touch.version
      let wasPending = stripe.slots[slot].isPending
      let isPending = isDue || isKnown && wasPending
      stripe.slots[slot] = Slot(touch: touch, isPending: isPending)
      stripe.pending += (isPending ? 1 : 0) - (wasPending ? 1 : 0)
      return isKnown
    }
  }

  /// Counts a read that found nothing.
  func noteMiss(_ salt: Int) { stripes[salt & (Self.stripeCount - 1)].update { $0.misses += 1 } }

  /// Takes back a note of an entry that turned out to be damaged.
  func forget(_ version: UInt64) {
    let (stripe, slot) = Self.place(of: version)
    stripes[stripe].update { stripe in
      guard stripe.slots[slot].touch.version == version else { return }
      if stripe.slots[slot].isPending { stripe.pending -= 1 }
      stripe.slots[slot] = Slot()
      stripe.hits -= 1
      stripe.misses += 1
    }
  }

  /// When an entry was read, if that is noted and not yet taken.
  func time(of version: UInt64) -> Int64? {
    let (stripe, slot) = Self.place(of: version)
    return stripes[stripe].update { stripe in
      let found = stripe.slots[slot]
      return found.isPending && found.touch.version == version ? found.touch.time : nil
    }
  }

  /// Marks a note as taken.
  func settle(_ version: UInt64) {
    let (stripe, slot) = Self.place(of: version)
    stripes[stripe].update { stripe in
      guard stripe.slots[slot].isPending, stripe.slots[slot].touch.version == version else { return }
      stripe.slots[slot].isPending = false
      stripe.pending -= 1
    }
  }

  /// Takes up to `limit` notes, oldest first; they are still known as read.
  func take(_ limit: Int) -> [Touch] {
    var taken: [Touch] = []
    for stripe in stripes where taken.count < limit {
      stripe.update { stripe in
        guard stripe.pending > 0 else { return }
        for index in stripe.slots.indices where stripe.slots[index].isPending && taken.count < limit {
          stripe.slots[index].isPending = false
          stripe.pending -= 1
          taken.append(stripe.slots[index].touch)
        }
      }
    }
    return taken.sorted { $0.time < $1.time }
  }

  /// The reads so far.
  var counts: (hits: Int, misses: Int) {
    stripes.reduce(into: (0, 0)) { sum, stripe in
      let (hits, misses) = stripe.update { ($0.hits, $0.misses) }
      sum = (sum.0 + hits, sum.1 + misses)
    }
  }

  private static func place(of version: UInt64) -> (stripe: Int, slot: Int) {
    let mixed = version &* 0x9E37_79B9_7F4A_7C15
    return (Int(mixed >> 60), Int(mixed >> 53) & (slotCount - 1))
  }
}
