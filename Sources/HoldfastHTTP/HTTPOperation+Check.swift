import Holdfast

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPOperation {
  /// Rejects what could not be sent later, while the caller can still mend it.
  func check(hasAttachments: Bool) throws(StoreError) {
    func require(_ isValid: Bool, _ message: @autoclosure () -> String) throws(StoreError) {
      if !isValid { throw StoreError(.invalidValue, message()) }
    }
    try require(method.isToken, "The HTTP method \(method.debugDescription) is not one; use a name such as POST.")
    _ = try resolved(against: nil)
    for (name, value) in headers {
      try require(
        name.isToken && value.isHeaderValue,
        "The HTTP header \(name.debugDescription) has characters that a header cannot have; remove them.")
      try require(
        !Self.secret.contains(name.lowercased()),
        "The HTTP header \(name) would store a secret; give it to the sender, which asks for it at each attempt.")
      try require(
        !Self.reserved.contains(name.lowercased()), "The HTTP header \(name) is set by the sender; leave it out.")
    }
    try require(
      !["GET", "HEAD"].contains(method) || body == .empty && !hasAttachments,
      "A \(method) request has no content, and servers drop or refuse one; use POST, or leave the content out.")
    if hasAttachments, case .json = body {
      throw StoreError(.invalidValue, "A JSON body cannot carry attachments; put the JSON into a field of a form.")
    }
    let isFormValid =
      if case .form(let fields) = body { fields.allSatisfy { $0.mediaType?.isHeaderValue ?? true } } else { true }
    try require(isFormValid, "A media type in the form has characters that a header cannot have; remove them.")
  }

  private static let secret: Set = ["authorization", "proxy-authorization", "cookie"]
  private static let reserved: Set = [
    "content-type", "content-length", "transfer-encoding", "host", "connection", "expect", "te", "trailer", "upgrade",
  ]

  /// The URL to send to.
  ///
  /// - Parameter base: What a reference is resolved against; `nil` accepts any.
  /// - Returns: The absolute URL, or with no base the reference.
  /// - Throws: `invalidValue` if it is not a URL, or not one of HTTP.
  func resolved(against base: URL?) throws(StoreError) -> URL {
    guard let url = URL(string: url, relativeTo: base)?.absoluteURL, self.url.isHeaderValue, !self.url.isEmpty else {
      throw StoreError(
        .invalidValue, "\(self.url.debugDescription) is not a URL; percent-encode what is not allowed in one.")
    }
    guard !self.url.hasPrefix("//"), !self.url.hasPrefix("\\"), url.user == nil, url.password == nil else {
      throw StoreError(
        .invalidValue,
        "\(self.url.debugDescription) names another host without a scheme, or holds a password; write a path or a whole "
          + "URL, and give credentials to the sender.")
    }
    if let scheme = url.scheme, !["http", "https"].contains(scheme.lowercased()) || (url.host ?? "").isEmpty {
      throw StoreError(.invalidValue, "\(self.url.debugDescription) is not an HTTP URL; start it with https://.")
    }
    return url
  }
}

extension HTTPOperation {
  /// Host and port of an absolute URL, by which the outbox tells hosts apart; `nil` for a reference.
  var host: String? {
    get throws(StoreError) {
      let url = try resolved(against: nil)
      guard url.scheme != nil, let host = url.host?.lowercased() else { return nil }
      return url.port.map { "\(host):\($0)" } ?? host
    }
  }
}

extension String {
  /// Whether it is a token of RFC 9110, section 5.6.2.
  var isToken: Bool {
    let marks = Set("!#$%&'*+-.^_`|~".utf8)
    return !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: marks.contains(byte)
        }
      }
  }

  /// Whether it can stand in a header line: no control character that would end or split it.
  var isHeaderValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
}
