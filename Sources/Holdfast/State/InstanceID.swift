import LMDB

/// An id for one object of this process, which no other object ever has, even at the same address.
///
/// An address is given out again when its object has gone, and what was noted under it would then be taken for the next
/// object's. This is a number that is never given out again, next to one that no other process has.
///
/// ```swift
/// final class Card {}
/// let card = Card()
/// let key = StateKey(type: "card", instance: InstanceID(card))
/// try store.state.session.update(key, ["isExpanded": true])
/// store.state.session.end(InstanceID(card))
/// ```
///
/// For what is no object, such as a view that is a value, make one with ``init()`` and keep it as long as the thing
/// lives: `@State private var id = InstanceID()`. Records stay until ``SessionState/end(_:)``.
public struct InstanceID: Sendable, Hashable {
  private let number: UInt64

  /// An id that nothing else has.
  public init() { number = Instances.shared.update { $0.next() } }

  /// The id of an object; the same each time, until the object is gone, also in its `deinit`.
  ///
  /// Keeps a weak reference, which is given up some time after the object. Costs a look-up under a lock.
  ///
  /// - Parameter object: The object; it is not kept alive.
  public init(_ object: AnyObject) {
    // To be let go of outside of the lock: the end of an object may ask for its id.
    var held: [AnyObject] = []
    number = Instances.shared.update { $0.number(of: object, holding: &held) }
  }

  /// The id in keys: `~`, a number of the process, and one of the object.
  var text: String { "~\(Instances.process)-\(number)" }
}

/// The objects that have an id.
private struct Instances {
  /// Random, so that no record of another process can have the key of an object in this one.
  static let process = String(UInt64.random(in: .min ... .max), radix: 36)
  static let shared = Monitor(Instances())

  private struct Instance {
    weak var object: AnyObject?
    let number: UInt64
  }

  private var instances: [ObjectIdentifier: Instance] = [:]
  private var lastNumber: UInt64 = 0
  private var sweepAt = 64

  mutating func next() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func number(of object: AnyObject, holding held: inout [AnyObject]) -> UInt64 {
    let instance = Instance(object: object, number: lastNumber + 1)
    // In its `deinit`, nothing refers to an object any more.
    if let known = instances[ObjectIdentifier(object)], known.object === object || instance.object == nil {
      return known.number
    }
    // The address is new, or that of an object that has gone.
    if instances.count >= sweepAt {
      instances = instances.filter { known in
        guard let object = known.value.object else { return false }
        held.append(object)
        return true
      }
      sweepAt = max(64, instances.count * 2)
    }
    instances[ObjectIdentifier(object)] = instance
    return next()
  }
}
