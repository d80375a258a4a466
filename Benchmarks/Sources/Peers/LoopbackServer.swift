internal import CPeers

/// A server of HTTP on this machine that takes everything, with a thread for each connection.
@safe
public final class LoopbackServer: @unchecked Sendable {
  // Sendable: its count is atomic.
  private let raw: OpaquePointer
  /// Where it listens, on 127.0.0.1.
  public let port: UInt16

  /// Starts it.
  ///
  /// - Throws: ``PeerError``.
  public init() throws(PeerError) {
    var pointer: OpaquePointer?
    var port: UInt16 = 0
    try must(unsafe http_server_start(&pointer, &port))
    guard let pointer = unsafe pointer else { throw PeerError() }
    unsafe raw = unsafe pointer
    self.port = port
  }

  deinit { unsafe http_server_stop(raw) }

  /// How many requests it has answered.
  public var count: Int { Int(unsafe http_server_count(raw)) }
}
