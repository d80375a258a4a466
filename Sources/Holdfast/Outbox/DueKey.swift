import LMDB

/// A row of the index of what may go out: route, priority, time and entry, so that each route and each priority has a
/// queue of its own, the longest due first.
struct DueKey: Hashable {
  var route: UInt64
  var priority: UInt8
  var time: Int64
  var id: EntryID

  static let length = 25

  init(route: UInt64, priority: UInt8, time: Int64, id: EntryID) {
    self.route = route
    self.priority = priority
    self.time = time
    self.id = id
  }

  /// Where the queue of a route and priority begins.
  init(route: UInt64, priority: UInt8) {
    self.init(route: route, priority: priority, time: 0, id: EntryID(rawValue: 0))
  }

  /// The row that a waiting head of a lane has.
  init(_ state: DeliveryState, _ id: EntryID) {
    self.init(route: state.route, priority: state.priority.rawValue, time: max(0, state.notBefore), id: id)
  }

  /// `nil` for a key that is damaged, which names nothing.
  init?(bytes: Span<UInt8>) {
    guard bytes.count == Self.length, let route = try? bytes.loadBigEndian(UInt64.self, at: 0),
      let time = try? bytes.loadBigEndian(UInt64.self, at: 9), let id = try? bytes.loadBigEndian(UInt64.self, at: 17)
    else { return nil }
    self.init(route: route, priority: bytes[8], time: Int64(clamping: time), id: EntryID(rawValue: id))
  }

  var bytes: ShortBytes {
    var bytes = ShortBytes(bigEndian: route)
    bytes.append(priority)
    bytes.append(bigEndian: UInt64(clamping: time))
    bytes.append(bigEndian: id.rawValue)
    return bytes
  }
}
