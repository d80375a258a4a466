internal import CPeers

/// A client for a ``LoopbackServer``, with a thread for each of its connections, which are kept.
@safe
public final class LoopbackClient: @unchecked Sendable {
  // Sendable: its queue of requests has a lock.
  private let raw: OpaquePointer
  /// It ends with its last client.
  private let server: LoopbackServer

  /// Opens connections.
  ///
  /// - Parameters:
  ///   - server: To whom.
  ///   - connections: How many.
  /// - Throws: ``PeerError``.
  public init(_ server: LoopbackServer, connections: Int) throws(PeerError) {
    var pointer: OpaquePointer?
    try must(unsafe http_client_open(server.port, connections, &pointer))
    guard let pointer = unsafe pointer else { throw PeerError() }
    unsafe raw = unsafe pointer
    self.server = server
  }

  deinit { unsafe http_client_close(raw) }

  /// Posts a body, and suspends until it is answered.
  ///
  /// - Parameters:
  ///   - body: What to post.
  ///   - key: The idempotency key.
  /// - Returns: The status; 0 if there is none.
  public func post(_ body: [UInt8], key: UInt64) async -> Int {
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Int, Never>) in
      let place = UnsafeMutablePointer<UnsafeContinuation<Int, Never>>.allocate(capacity: 1)
      unsafe place.initialize(to: continuation)
      unsafe http_client_post(raw, body, body.count, key, place) { context, status in
        guard let context = unsafe context else { return }
        let place = unsafe context.assumingMemoryBound(to: UnsafeContinuation<Int, Never>.self)
        let continuation = unsafe place.move()
        unsafe place.deallocate()
        unsafe continuation.resume(returning: Int(status))
      }
    }
  }

  /// Posts a body under several keys, and blocks until all are answered with 200.
  ///
  /// - Parameters:
  ///   - body: What to post.
  ///   - keys: The idempotency keys.
  /// - Throws: ``PeerError`` if one is answered otherwise.
  public func postAll(_ body: [UInt8], keys: [UInt64]) throws(PeerError) {
    try must(unsafe http_client_post_all(raw, body, body.count, keys, keys.count))
  }
}
