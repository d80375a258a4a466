/// The way of an entry: what it shares with others and can be closed, limited or paused for all of them.
struct Route: Sendable, Hashable {
  /// The group of requests it belongs to.
  let queue: String
  /// The host it goes to; `nil` for the sender's own.
  let host: String?
  /// The name of the credentials it is sent with; `nil` for the sender's own.
  let credentials: String?

  /// The number of the route of what names nothing.
  static let usual = Route(queue: "", host: nil, credentials: nil).hash

  /// What index rows call the route. Two routes of one number would merely wait for each other.
  var number: UInt64 { queue.isEmpty && host == nil && credentials == nil ? Self.usual : hash }

  private var hash: UInt64 {
    // No text has this byte, so that different routes have different bytes.
    let bytes = Array(queue.utf8) + [0xFF] + Array((host ?? "").utf8) + [0xFF] + Array((credentials ?? "").utf8)
    let hash = SipHash.hash128(bytes.span)
    return hash.array.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
