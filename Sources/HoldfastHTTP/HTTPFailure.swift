/// An attempt that ended without a reply.
public struct HTTPFailure: Error, Sendable, Hashable {
  /// What stood in the way.
  public enum Kind: Sendable, Hashable {
    /// The device has no network.
    case offline
    /// The name of the host could not be resolved.
    case noSuchHost
    /// Nobody answers at the host, or it refused the connection.
    case noConnection
    /// The server could not prove who it is, or no encryption could be agreed on.
    case notTrusted
    /// The time was over.
    case timedOut
    /// The attempt was cancelled.
    case cancelled
    /// A file of the content is missing, or is not the one that was staged.
    case contentUnreadable
    /// The connection broke, or what came back is not HTTP.
    case connectionLost
  }

  /// What stood in the way.
  public var kind: Kind
  /// The same in words, for people to read.
  public var message: String
  /// Whether the server may have got the request.
  ///
  /// On Linux this is whether a byte of it was written, as counted by libcurl. On Apple's systems it is whether the
  /// connection was ready, or anything is known to have been sent.
  public var mayHaveBeenSent: Bool

  /// Makes a failure.
  ///
  /// - Parameters:
  ///   - kind: What stood in the way.
  ///   - message: The same in words.
  ///   - mayHaveBeenSent: Whether the server may have got the request.
  public init(_ kind: Kind, message: String, mayHaveBeenSent: Bool) {
    self.kind = kind
    self.message = message
    self.mayHaveBeenSent = mayHaveBeenSent
  }
}
