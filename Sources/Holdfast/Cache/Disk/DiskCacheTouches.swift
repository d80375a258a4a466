import LMDB
import Synchronization

/// The reads of this process that the order of use on disk does not know yet.
///
/// A read notes itself here instead of writing. Later writes take a few notes each. There is room for 2,048 of them; a
/// newer one takes the place of an older. What is lost, by that or with the process, is recency only.
///
/// It also tells which entries were read before, up to 65,536 of them, since when their checksums hold.
final class DiskCacheTouches: Sendable {
  private static let stripeCount = 16
  private static let slotCount = 128
  private static let knownCount = 4096

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
    /// Empty until the first read.
    var slots: [Slot] = []
    /// A part of the version that was read last of those that share the place; zero for none. Empty until the first read.
    var known: [UInt32] = []
    var pending = 0
    var hits = 0
    var misses = 0

    mutating func makeRoom() {
      slots = [Slot](repeating: Slot(), count: slotCount)
      known = [UInt32](repeating: 0, count: knownCount)
    }
  }

  private struct Place {
    let stripe: Int
    let slot: Int
    let known: Int
    let tag: UInt32

    init(of version: UInt64) {
      let mixed = version &* 0x9E37_79B9_7F4A_7C15
      stripe = Int(mixed >> 60)
      slot = Int(mixed >> 53) & (slotCount - 1)
      known = Int(mixed >> 48) & (knownCount - 1)
      tag = UInt32(truncatingIfNeeded: mixed >> 16) | 1
    }
  }

  private let stripes = (0..<stripeCount).map { _ in Guarded(Stripe()) }
  /// How many notes were made and not taken; for a look without the locks.
  private let pending = Atomic(0)

  /// Notes a read.
  ///
  /// - Parameters:
  ///   - touch: The entry, and when.
  ///   - isDue: Whether its place in the order is old enough to be moved.
  /// - Returns: Whether this process has read this version before, as far as is remembered.
  func note(_ touch: Touch, isDue: Bool) -> Bool {
    let place = Place(of: touch.version)
    return stripes[place.stripe].update { stripe in
      stripe.hits += 1
      if stripe.slots.isEmpty { stripe.makeRoom() }
      if isDue { keep(touch, in: &stripe, place.slot) }
      if stripe.known[place.known] == place.tag { return true }
      stripe.known[place.known] = place.tag
      return false
    }
  }

  /// Notes a read that the memory half has answered.
  func noteElsewhere(_ touch: Touch) {
    let place = Place(of: touch.version)
    stripes[place.stripe].update { stripe in
      if stripe.slots.isEmpty { stripe.makeRoom() }
      keep(touch, in: &stripe, place.slot)
    }
  }

  private func keep(_ touch: Touch, in stripe: inout Stripe, _ slot: Int) {
    if !stripe.slots[slot].isPending {
      stripe.pending += 1
      pending.add(1, ordering: .relaxed)
    }
    stripe.slots[slot] = Slot(touch: touch, isPending: true)
  }

  private func settle(_ version: UInt64, in stripe: inout Stripe, _ slot: Int) {
    guard stripe.pending > 0, stripe.slots[slot].isPending, stripe.slots[slot].touch.version == version else { return }
    stripe.slots[slot].isPending = false
    stripe.pending -= 1
    pending.subtract(1, ordering: .relaxed)
  }

  /// Counts a read that found nothing.
  func noteMiss(_ salt: Int) { stripes[salt & (Self.stripeCount - 1)].update { $0.misses += 1 } }

  /// Takes back a note of an entry that turned out to be damaged.
  func forget(_ version: UInt64) {
    let place = Place(of: version)
    stripes[place.stripe].update { stripe in
      if !stripe.known.isEmpty, stripe.known[place.known] == place.tag { stripe.known[place.known] = 0 }
      settle(version, in: &stripe, place.slot)
      stripe.hits -= 1
      stripe.misses += 1
    }
  }

  /// When an entry was read, if that is noted and not yet taken.
  func time(of version: UInt64) -> Int64? {
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

  /// The reads so far.
  var counts: (hits: Int, misses: Int) {
    stripes.reduce(into: (0, 0)) { sum, stripe in
      let (hits, misses) = stripe.update { ($0.hits, $0.misses) }
      sum = (sum.0 + hits, sum.1 + misses)
    }
  }
}
