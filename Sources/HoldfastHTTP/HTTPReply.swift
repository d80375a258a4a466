/// A server's reply, as far as it matters for what becomes of an entry.
public struct HTTPReply: Sendable, Hashable {
  /// The method of the request.
  public let method: String
  /// What the request's `Accept` header asked for.
  public let accept: String
  /// The status code.
  public let status: Int
  /// The content, up to the sender's limit; the rest is not read.
  public let body: [UInt8]
  private let headers: [String: String]

  /// Makes a reply.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The headers; names in any case.
  ///   - body: The content.
  ///   - method: The method of the request.
  ///   - accept: What the request's `Accept` header asked for.
  public init(
    status: Int, headers: [String: String] = [:], body: [UInt8] = [], method: String = "POST",
    accept: String = "application/json"
  ) {
    self.status = status
    self.body = body
    self.method = method
    self.accept = accept
    self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
  }

  init(to request: HTTPRequest, status: Int, headers: [(name: String, value: String)], _ body: [UInt8]) {
    self.init(
      status: status, headers: Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first }, body: body,
      method: request.method, accept: request.header("Accept") ?? "")
  }

  /// The value of a header.
  ///
  /// - Parameter name: The name, in any case.
  /// - Returns: The value, or `nil` if the reply does not have it; of several, the first.
  public func header(_ name: String) -> String? { headers[name.lowercased()] }
}

extension HTTPReply {
  /// The start of the content on one line, for a person who asks why.
  var excerpt: String {
    let text = String(decoding: body.prefix(200), as: UTF8.self)
    let words = text.split { $0.isWhitespace || $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
    return words.joined(separator: " ")
  }

  /// Whether a page came that was not asked for: somebody between here and the server has answered.
  var isStrayPage: Bool {
    guard let type = header("Content-Type")?.lowercased() else { return false }
    return (type.hasPrefix("text/html") || type.hasPrefix("application/xhtml+xml"))
      && !accept.lowercased().contains("html")
  }

  /// Whether the server says that the first request with this key is still running (IETF draft
  /// "The Idempotency-Key HTTP Header Field", section 2.6).
  var isOutstanding: Bool {
    guard status == 409, header("Content-Type")?.lowercased().hasPrefix("application/problem+json") == true else {
      return false
    }
    let text = String(decoding: body, as: UTF8.self).lowercased()
    return text.contains("outstanding") || text.contains("idempotency")
  }
}
