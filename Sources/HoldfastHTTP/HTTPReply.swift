public import Holdfast

/// A server's reply, as far as it matters for what becomes of an entry.
public struct HTTPReply: Sendable, Hashable {
  /// The status code.
  public let status: Int
  /// The content; of a longer one, the first MiB is kept.
  public let body: [UInt8]
  private let headers: [String: String]

  /// Makes a reply.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The headers; names in any case.
  ///   - body: The content.
  public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.body = body
    self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
  }

  /// The value of a header.
  ///
  /// - Parameter name: The name, in any case.
  /// - Returns: The value, or `nil` if the reply does not have it.
  public func header(_ name: String) -> String? { headers[name.lowercased()] }
}

extension SendOutcome {
  /// What a reply means for an entry, by the status codes of RFC 9110.
  ///
  /// - 2xx: delivered, unless it is a page of HTML that was not asked for: that is how a captive portal answers.
  /// - 408, 409, 425, 429 and 5xx: transient; `Retry-After` is kept.
  /// - 401 and 407: transient, since new credentials mend them.
  /// - 1xx and 3xx: transient. Redirects are not followed: a captive portal would swallow the request.
  /// - Other 4xx: permanent.
  ///
  /// - Parameter reply: What the server said.
  public init(classifying reply: HTTPReply) {
    switch reply.status {
    case 200..<300 where reply.isPage:
      self = .transient(reason: "http \(reply.status) with a page of HTML, as a captive portal answers")
    case 200..<300: self = .delivered(reply: reply.body)
    case 400..<500 where ![401, 407, 408, 409, 425, 429].contains(reply.status):
      self = .permanent(reason: "http \(reply.status)\(reply.excerpt)")
    default:
      self = .transient(reason: "http \(reply.status)\(reply.excerpt)", retryAfter: reply.retryAfter)
    }
  }
}

extension HTTPReply {
  fileprivate var isPage: Bool {
    header("Content-Type")?.lowercased().hasPrefix("text/html") ?? false
  }

  /// The start of the content, for a person who asks why.
  fileprivate var excerpt: String {
    let text = String(decoding: body.prefix(200), as: UTF8.self)
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.isEmpty ? "" : ": \(words)"
  }
}
