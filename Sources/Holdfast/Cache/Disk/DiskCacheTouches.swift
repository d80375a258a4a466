import LMDB
import Synchronization

/// The reads of this process that the order of use on disk does not know yet.
///
/// A read notes itself here instead of writing. Later writes take a few notes each. There is room for 2,048 of them; a
/// newer one takes the place of an older. What is lost, by that or with the process, is recency only.
final class DiskCacheTouches: Sendable {
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
    var touch = Touch(version: 0, stamp: 0, priority: .normal, time: 0)
    var isPending = false
  }

  private struct Stripe {
    /// Empty until the first note.
    var slots: [Slot] = []
    var pending = 0
    /// How many notes another one has taken the place of.
    var dropped = 0
  }

  private struct Place {
    let stripe: Int
    let slot: Int

    init(of version: UInt64) {
      let mixed = version &* 0x9E37_79B9_7F4A_7C15
      stripe = Int(mixed >> 60)
      slot = Int(mixed >> 53) & (slotCount - 1)
    }
  }

  private let stripes = (0..<stripeCount).map { _ in Guarded(Stripe()) }
  /// For each version its lower half and that of the time when it was noted last, so that most reads take no lock.
  private let noted = AtomicTable(bits: 12)
  /// How many notes were made and not taken; for a look without the locks.
  private let pending = Atomic(0)

  /// Notes a read whose entry's place in the order is old enough to be moved, unless it was noted a moment ago.
  ///
  /// - Parameters:
  ///   - touch: The read.
  ///   - interval: How long a moment is, in ms.
  @inline(__always)
  func note(_ touch: Touch, every interval: Int64) {
    let word = noted.load(touch.version)
    let now = UInt32(truncatingIfNeeded: touch.time)
    let isNoted = word >> 32 == touch.version & 0xFFFF_FFFF && now &- UInt32(truncatingIfNeeded: word) < interval
    if !isNoted {
      noted.store(touch.version << 32 | UInt64(now), touch.version)
      note(touch)
    }
  }

  /// Notes a read.
  @inline(never)
  func note(_ touch: Touch) {
    let place = Place(of: touch.version)
    stripes[place.stripe].update { stripe in
      if stripe.slots.isEmpty { stripe.slots = [Slot](repeating: Slot(), count: Self.slotCount) }
      if !stripe.slots[place.slot].isPending {
        stripe.pending += 1
        pending.add(1, ordering: .relaxed)
      } else if stripe.slots[place.slot].touch.version != touch.version {
        stripe.dropped += 1
      }
      stripe.slots[place.slot] = Slot(touch: touch, isPending: true)
    }
  }

  private func settle(_ version: UInt64, in stripe: inout Stripe, _ slot: Int) {
    guard stripe.pending > 0, stripe.slots[slot].isPending, stripe.slots[slot].touch.version == version else { return }
    stripe.slots[slot].isPending = false
    stripe.pending -= 1
    pending.subtract(1, ordering: .relaxed)
  }

  /// How many notes were lost to others.
  var dropped: Int { stripes.reduce(0) { $0 + $1.update { $0.dropped } } }

  /// When an entry was read, if that is noted and not yet taken.
  func time(of version: UInt64) -> Int64? {
    if pending.load(ordering: .relaxed) == 0 { return nil }
    let place = Place(of: version)
    return stripes[place.stripe].update { stripe in
      guard stripe.pending > 0, case let found = stripe.slots[place.slot] else { return nil }
      return found.isPending && found.touch.version == version ? found.touch.time : nil
    }
  }

  /// Marks a note as taken.
  func settle(_ version: UInt64) {
    let place = Place(of: version)
    stripes[place.stripe].update { settle(version, in: &$0, place.slot) }
  }

  /// Takes up to `limit` notes, oldest first; they are still known as read.
  func take(_ limit: Int) -> [Touch] {
    var taken: [Touch] = []
    if pending.load(ordering: .relaxed) == 0 { return taken }
    for stripe in stripes where taken.count < limit {
      stripe.update { stripe in
        guard stripe.pending > 0 else { return }
        for index in stripe.slots.indices where stripe.slots[index].isPending && taken.count < limit {
          settle(stripe.slots[index].touch.version, in: &stripe, index)
          taken.append(stripe.slots[index].touch)
        }
      }
    }
    return taken.sorted { $0.time < $1.time }
  }
}
