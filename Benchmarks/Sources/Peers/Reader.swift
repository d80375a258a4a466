internal import CPeers
public import Harness

/// What one thread reads a ``Peer`` with.
@safe
public final class Reader: @unchecked Sendable {
  // Sendable: it is used by one thread at a time, which the callers see to.
  let raw: OpaquePointer
  /// The store must not close before.
  private let peer: Peer

  /// Makes a reader.
  ///
  /// - Parameter peer: The store.
  /// - Throws: ``PeerError``.
  public init(_ peer: Peer) throws(PeerError) {
    self.peer = peer
    var pointer: OpaquePointer?
    try must(unsafe peer_reader_open(peer.raw, &pointer))
    guard let pointer = unsafe pointer else { throw PeerError() }
    unsafe raw = unsafe pointer
  }

  deinit { unsafe peer_reader_close(raw) }

  /// Reads each key in a snapshot of its own.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  /// - Returns: The sum of their values' ``Swift/Span/touched``.
  /// - Throws: ``PeerError``.
  public func get(_ keys: KeyBlock, _ range: Range<Int>) throws(PeerError) -> UInt64 {
    var sum: UInt64 = 0
    try must(unsafe keys.withPeerKeys(range) { unsafe peer_get(raw, $0, &sum) })
    return sum
  }

  /// Reads all keys in one snapshot, one call each.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  /// - Returns: A sum as ``get(_:_:)``.
  /// - Throws: ``PeerError``.
  public func getInSnapshot(_ keys: KeyBlock, _ range: Range<Int>) throws(PeerError) -> UInt64 {
    var sum: UInt64 = 0
    try must(unsafe keys.withPeerKeys(range) { unsafe peer_get_in_snapshot(raw, $0, &sum) })
    return sum
  }

  /// Reads groups of keys, each in a snapshot of its own.
  ///
  /// - Parameters:
  ///   - keys: The keys, groups one after the other.
  ///   - range: Which of them.
  ///   - group: How many a group has.
  /// - Returns: A sum as ``get(_:_:)``.
  /// - Throws: ``PeerError``.
  public func getGroups(_ keys: KeyBlock, _ range: Range<Int>, of group: Int) throws(PeerError) -> UInt64 {
    var sum: UInt64 = 0
    try must(unsafe keys.withPeerKeys(range) { unsafe peer_get_groups(raw, $0, group, &sum) })
    return sum
  }

  /// Reads records in order.
  ///
  /// - Parameters:
  ///   - keys: Keys of which one says where to begin.
  ///   - index: Which; `nil` begins with the first record of all.
  ///   - limit: How many records at most.
  /// - Returns: A sum as ``get(_:_:)``.
  /// - Throws: ``PeerError``.
  public func scan(from keys: KeyBlock, at index: Int?, limit: Int) throws(PeerError) -> UInt64 {
    var sum: UInt64 = 0
    let range = index.map { $0..<$0 + 1 } ?? 0..<0
    let code = unsafe keys.withPeerKeys(range) {
      unsafe peer_scan(raw, $0.bytes, index == nil ? 0 : $0.length, limit, &sum)
    }
    try must(code)
    return sum
  }
}
