public import Holdfast

/// Decides what a reply, or the lack of one, means for an entry.
///
/// The standard rules keep the user's data: an entry is given up only if the server itself refuses it, and nothing that
/// stands between here and the server counts against it. To change one, wrap the standard rule:
///
/// ```swift
/// let classifier = HTTPClassifier(reply: { reply in
///   reply.status == 409 ? .permanent(reason: "somebody else was faster") : HTTPClassifier.outcome(of: reply)
/// })
/// ```
public struct HTTPClassifier: Sendable {
  /// What a reply means.
  public var reply: @Sendable (HTTPReply) -> SendOutcome
  /// What the lack of a reply means.
  public var failure: @Sendable (HTTPFailure) -> SendOutcome

  /// Makes a classifier.
  ///
  /// - Parameters:
  ///   - reply: What a reply means.
  ///   - failure: What the lack of a reply means.
  public init(
    reply: @escaping @Sendable (HTTPReply) -> SendOutcome = { HTTPClassifier.outcome(of: $0) },
    failure: @escaping @Sendable (HTTPFailure) -> SendOutcome = { HTTPClassifier.outcome(of: $0) }
  ) {
    self.reply = reply
    self.failure = failure
  }

  /// The standard rule for a reply, by the status codes of RFC 9110 and RFC 6585. It reads no clock.
  ///
  /// | Reply | Outcome |
  /// |---|---|
  /// | 2xx | delivered |
  /// | 2xx with a page of HTML that was not asked for; 3xx; 511 | postponed, the host's gate closes |
  /// | 401, 407 | postponed, the gate of the credentials closes |
  /// | 429 and 503 with `Retry-After` | postponed, the host's gate closes for that long |
  /// | 409 that says the first request still runs | postponed, no gate |
  /// | 408, 409, 421, 423, 425, 429, 5xx | transient |
  /// | other 4xx | permanent |
  ///
  /// - Parameter reply: What the server answered.
  /// - Returns: What it means.
  public static func outcome(of reply: HTTPReply) -> SendOutcome {
    let answer = reply.body.isEmpty ? "http \(reply.status)" : "http \(reply.status): \(reply.excerpt)"
    switch reply.status {
    case 200...299 where reply.isStrayPage:
      return .postponed(
        reason: "a page of HTML came that was not asked for, as from a captive portal; \(answer)", closing: .host)
    case 200...299: return .delivered(reply: reply.body)
    case 300...399:
      return .postponed(
        reason: "http \(reply.status) points to \(reply.header("Location") ?? "nowhere"), where a \(reply.method) must "
          + "not be sent; it may come from a captive portal", closing: .host)
    case 511: return .postponed(reason: "the network asks for a login; \(answer)", closing: .host)
    case 401, 407: return .postponed(reason: "the credentials were refused; \(answer)", closing: .credentials)
    case 409 where reply.isOutstanding: return .postponed(reason: answer, retryAfter: reply.retryAfter)
    case 429, 503:
      guard let pause = reply.retryAfter else { return .transient(reason: answer) }
      return .postponed(reason: answer, closing: .host, retryAfter: pause)
    case 408, 409, 421, 423, 425, 500...: return .transient(reason: answer, retryAfter: reply.retryAfter)
    case 400...499: return .permanent(reason: answer)
    default: return .transient(reason: answer)
    }
  }

  /// The standard rule for an attempt without a reply.
  ///
  /// | Failure | nothing of the request left | it may have been sent |
  /// |---|---|---|
  /// | a file is missing or not the one that was staged | unsendable | unsendable |
  /// | cancelled | not sent, no gate | interrupted |
  /// | no network | not sent, the network's gate closes | ambiguous |
  /// | all others | not sent, the host's gate closes | ambiguous |
  ///
  /// - Parameter failure: How the attempt ended.
  /// - Returns: What it means.
  public static func outcome(of failure: HTTPFailure) -> SendOutcome {
    switch (failure.kind, failure.mayHaveBeenSent) {
    case (.contentUnreadable, _): .unsendable(reason: failure.message)
    case (.cancelled, false): .notSent(reason: failure.message, closing: nil)
    case (.cancelled, true): .interrupted
    case (_, true): .ambiguous(reason: failure.message)
    case (.offline, false): .notSent(reason: failure.message, closing: .network)
    case (_, false): .notSent(reason: failure.message, closing: .host)
    }
  }
}
