#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What makes exchanges: libcurl on Linux, `URLSession` on Apple's systems.
protocol HTTPTransport: Sendable {
  /// Makes one exchange: the request leaves at most once, and no redirect is followed.
  ///
  /// - Throws: An ``HTTPFailure`` if there is no reply; soon after the task is cancelled.
  func exchange(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPReply
}

/// One request as it goes over the wire.
struct HTTPRequest: Sendable {
  /// A piece of the content. Files are read while they are sent, so memory does not grow with them.
  enum Part: Sendable, Hashable {
    case bytes([UInt8])
    /// A file that must have this size.
    case file(path: String, size: Int)
  }

  /// How long an exchange may take, and how much of its reply is read.
  struct Limits: Sendable {
    var silence: Duration
    var total: Duration
    var reply: Int
  }

  var method: String
  /// Absolute, and of HTTP.
  var url: URL
  var headers: [String: String]
  /// `nil` for a request that has no content, not even an empty one.
  var content: [Part]?
  var limits: Limits

  func header(_ name: String) -> String? {
    headers.first { $0.key.lowercased() == name.lowercased() }?.value
  }
}
