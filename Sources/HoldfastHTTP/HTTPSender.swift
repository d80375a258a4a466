public import Holdfast

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Sends outbox entries that hold an ``HTTPOperation``.
///
/// Each request carries the entry's idempotency key in a header, and leaves at most once an attempt. Attachments are
/// streamed from their files: memory does not grow with their size. What a reply means is decided by an
/// ``HTTPClassifier``; credentials come from a ``CredentialProvider`` at each attempt.
///
/// ```swift
/// let sender = try HTTPSender(baseURL: "https://api.example.com/v1/")
/// try await store.outbox.drain(with: sender)
/// ```
///
/// Keep one sender for long: it keeps its connections.
public struct HTTPSender: OutboxSender {
  private static let redirectLimit = 5

  private let base: URL
  private let idempotencyHeader: String
  private let limits: HTTPRequest.Limits
  private let credentials: CredentialDesk
  private let classifier: HTTPClassifier
  private let transport: any HTTPTransport

  /// Makes a sender. Nothing is connected before the first entry.
  ///
  /// - Parameters:
  ///   - baseURL: What the references of operations are resolved against; `http` or `https`, with a host. End it with
  ///     a slash, or its last part is replaced (RFC 3986, section 5.2).
  ///   - idempotencyHeader: The header that carries the key.
  ///   - timeout: For how long a connection may be silent, in whole seconds from 1 to a day; fractions are rounded up.
  ///   - totalTimeout: For how long an exchange may last, from 1 ms to a day. Leave room for large attachments on slow
  ///     networks.
  ///   - replyLimit: How much of a reply's content is read, in bytes; the rest is left on the wire.
  ///   - credentials: What proves who is asking.
  ///   - classifier: What replies mean.
  /// - Throws: `invalidOption` if the base URL or the header is not one, or a limit is out of its range.
  public init(
    baseURL: String, idempotencyHeader: String = "Idempotency-Key", timeout: Duration = .seconds(60),
    totalTimeout: Duration = .seconds(3600), replyLimit: Int = 1 << 20,
    credentials: any CredentialProvider = NoCredentials(), classifier: HTTPClassifier = HTTPClassifier()
  ) throws(StoreError) {
    try self.init(
      baseURL: baseURL, idempotencyHeader: idempotencyHeader,
      limits: HTTPRequest.Limits(silence: timeout, total: totalTimeout, reply: replyLimit), credentials: credentials,
      classifier: classifier, transport: Self.systemTransport(total: totalTimeout))
  }

  init(
    baseURL: String, idempotencyHeader: String, limits: HTTPRequest.Limits, credentials: any CredentialProvider,
    classifier: HTTPClassifier, transport: any HTTPTransport
  ) throws(StoreError) {
    guard let base = URL(string: baseURL), let scheme = base.scheme?.lowercased(),
      ["http", "https"].contains(scheme), let host = base.host, !host.isEmpty
    else {
      throw StoreError(
        .invalidOption,
        "The base URL \(baseURL.debugDescription) is not one of HTTP with a host; use one like https://api.example.com/."
      )
    }
    guard idempotencyHeader.isToken else {
      throw StoreError(
        .invalidOption, "\(idempotencyHeader.debugDescription) is not a header name; use letters, digits and hyphens.")
    }
    let day = Duration.seconds(86_400)
    guard limits.silence > .zero, limits.silence <= day, limits.total >= .milliseconds(1), limits.total <= day,
      limits.reply >= 0
    else {
      throw StoreError(
        .invalidOption, "A time limit of a sender is not between 1 ms and a day, or a limit of size is below zero.")
    }
    self.base = base
    self.idempotencyHeader = idempotencyHeader
    self.limits = limits
    self.credentials = CredentialDesk(credentials)
    self.classifier = classifier
    self.transport = transport
  }

  /// Makes one attempt. Suspends until there is a reply or the attempt has failed; when the task is cancelled, it ends
  /// soon, and the connection is closed.
  ///
  /// A request whose credentials are refused is sent once more if the provider has others. Redirects to the same server
  /// are followed where the method stays what it is: 307 and 308, and for GET and HEAD all of them.
  ///
  /// - Parameter entry: An entry of the kind ``HTTPOperation/kind``.
  /// - Returns: What the classifier makes of the reply, or of the lack of one; `unsendable` for another kind, and for a
  ///   payload that this version cannot read.
  public func send(_ entry: OutboxEntry) async -> SendOutcome {
    guard entry.kind == HTTPOperation.kind else {
      return .unsendable(
        reason:
          "An entry of the kind \(entry.kind) is not an HTTP operation; give the drain a sender that looks at the "
          + "kind and hands only \(HTTPOperation.kind) on to this one.")
    }
    let operation: HTTPOperation
    var request: HTTPRequest
    do throws(StoreError) {
      operation = try HTTPOperation(payload: entry.payload)
      request = try self.request(operation, entry)
    } catch {
      return .unsendable(reason: error.message)
    }
    let scope = CredentialScope(name: entry.credentials, origin: request.url.origin)
    do {
      let present = try await credentials.headers(for: scope)
      do throws(HTTPFailure) {
        var reply = try await exchange(&request, with: present)
        if reply.status == 401 || reply.status == 407 {
          let others = await replacement(for: scope, refused: present)
          if let others, others != present { reply = try await exchange(&request, with: others) }
        }
        return classifier.reply(reply)
      } catch {
        return classifier.failure(error)
      }
    } catch {
      return .notSent(reason: "there are no credentials: \(error)", closing: .credentials)
    }
  }

  private func request(_ operation: HTTPOperation, _ entry: OutboxEntry) throws(StoreError) -> HTTPRequest {
    var request = HTTPRequest(
      method: operation.method, url: try operation.resolved(against: base), headers: ["Accept": "application/json"],
      limits: limits)
    for (name, value) in operation.headers { request.setHeader(name, value) }
    switch operation.body {
    case .empty where entry.attachments.isEmpty:
      // A server may insist on a length where content is the rule (RFC 9110, section 8.6).
      request.content = ["POST", "PUT", "PATCH"].contains(operation.method) ? [] : nil
    case .json(let text):
      request.setHeader("Content-Type", "application/json")
      request.content = [.bytes(Array(text.utf8))]
    case .empty: request.setForm(MultipartBody([], entry, filePart: operation.filePart))
    case .form(let fields): request.setForm(MultipartBody(fields, entry, filePart: operation.filePart))
    }
    request.setHeader(idempotencyHeader, "\(entry.idempotencyKey)")
    return request
  }

  /// Makes exchanges until one is not a redirect to be followed; `request` is then the last one.
  private func exchange(
    _ request: inout HTTPRequest, with credentials: [String: String]
  ) async throws(HTTPFailure) -> HTTPReply {
    var redirects = 0
    while true {
      var complete = request
      for (name, value) in credentials { complete.setHeader(name, value) }
      let reply = try await transport.exchange(complete)
      guard redirects < Self.redirectLimit, let target = reply.redirect(of: request) else { return reply }
      redirects += 1
      request.url = target
    }
  }

  /// Other credentials than the refused ones; `nil` if the provider has none, which the refusal then says.
  private func replacement(for scope: CredentialScope, refused: [String: String]) async -> [String: String]? {
    try? await credentials.headers(for: scope, replacing: refused)
  }
}

extension HTTPRequest {
  /// Sets a header in place of one of the same name in whatever case.
  fileprivate mutating func setHeader(_ name: String, _ value: String) {
    for other in headers.keys where other.lowercased() == name.lowercased() { headers[other] = nil }
    headers[name] = value
  }

  fileprivate mutating func setForm(_ form: MultipartBody) {
    setHeader("Content-Type", form.contentType)
    content = form.parts
  }
}

extension HTTPReply {
  /// Where to go on, if this is a redirect to the same server that keeps the method.
  fileprivate func redirect(of request: HTTPRequest) -> URL? {
    let isSafe = request.method == "GET" || request.method == "HEAD"
    guard status == 307 || status == 308 || isSafe && [301, 302, 303].contains(status), let text = header("Location"),
      let target = URL(string: text, relativeTo: request.url)?.absoluteURL, target.origin == request.url.origin
    else { return nil }
    return target
  }
}

extension URL {
  /// Scheme, host and port, without a port that the scheme implies.
  var origin: String {
    let scheme = scheme?.lowercased() ?? ""
    let standard = scheme == "https" ? 443 : 80
    let port = port.map { $0 == standard ? "" : ":\($0)" } ?? ""
    return "\(scheme)://\(host?.lowercased() ?? "")\(port)"
  }
}
