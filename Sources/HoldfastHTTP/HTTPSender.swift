import Foundation
public import Holdfast
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends outbox entries that hold an ``HTTPOperation``.
///
/// Each request carries the entry's idempotency key in a header. Redirects are not followed. Attachments are streamed
/// from their files: memory does not grow with their size.
///
/// ```swift
/// let sender = try HTTPSender(baseURL: "https://api.example.com/v1/")
/// try await store.outbox.drain(with: sender)
/// ```
public struct HTTPSender: OutboxSender {
  /// What is not stored with a request, because it is a secret or changes: asked for at each attempt.
  public typealias HeaderProvider = @Sendable (OutboxEntry) async throws -> [String: String]

  private static let replyLimit = 1 << 20

  private let base: URL
  private let idempotencyHeader: String
  private let timeout: Duration
  private let headers: HeaderProvider
  private let classify: @Sendable (HTTPReply) -> SendOutcome
  private let connections = Connections()

  /// Makes a sender.
  ///
  /// - Parameters:
  ///   - baseURL: What the references of operations are resolved against; `http` or `https`, with a host. End it with
  ///     a slash, or its last part is replaced (RFC 3986, section 5.2).
  ///   - idempotencyHeader: The header that carries the key.
  ///   - timeout: How long a request may stand still, in whole seconds from 1 to a day; fractions are
  ///     rounded up.
  ///   - headers: Headers to add at each attempt, such as `Authorization`. If it throws, nothing is sent, and the attempt
  ///     does not count.
  ///   - classify: What a reply means.
  /// - Throws: `invalidOption` if the base URL is not one.
  public init(
    baseURL: String, idempotencyHeader: String = "Idempotency-Key", timeout: Duration = .seconds(60),
    headers: @escaping HeaderProvider = { _ in [:] },
    classify: @escaping @Sendable (HTTPReply) -> SendOutcome = { SendOutcome(classifying: $0) }
  ) throws(StoreError) {
    guard let base = URL(string: baseURL), let scheme = base.scheme?.lowercased(),
      ["http", "https"].contains(scheme), let host = base.host, !host.isEmpty
    else {
      throw StoreError(
        .invalidOption,
        "\(baseURL.debugDescription) is not the URL of a server; write one such as https://api.example.com/.")
    }
    guard idempotencyHeader.isToken else {
      throw StoreError(
        .invalidOption, "\(idempotencyHeader.debugDescription) is not a header name; use one such as Idempotency-Key.")
    }
    self.base = base
    self.idempotencyHeader = idempotencyHeader
    self.timeout = timeout
    self.headers = headers
    self.classify = classify
  }

  /// Makes one attempt.
  ///
  /// Cancelling the task cancels the request; on Linux, a form is sent to its end.
  ///
  /// - Parameter entry: An entry of the kind ``HTTPOperation/kind``.
  /// - Returns: What the reply means, or what became of the connection.
  /// - Throws: A `StoreError` if the entry is of another kind, or an attachment is missing; it is tried again later.
  public func send(_ entry: OutboxEntry) async throws -> SendOutcome {
    guard entry.kind == HTTPOperation.kind else {
      throw StoreError(
        .invalidValue,
        "An entry of the kind \(entry.kind) is not an HTTP operation; give the drain a sender that looks at the kind and hands only \(HTTPOperation.kind) on to this one."
      )
    }
    let operation = try HTTPOperation(payload: entry.payload)
    var request = URLRequest(url: try operation.resolved(against: base))
    request.httpMethod = operation.method
    request.timeoutInterval = timeoutInterval
    for (name, value) in operation.headers { request.setValue(value, forHTTPHeaderField: name) }
    let added: [String: String]
    do {
      added = try await headers(entry)
    } catch {
      return .notSent(reason: "the headers could not be had: \(error)")
    }
    for (name, value) in added { request.setValue(value, forHTTPHeaderField: name) }
    request.setValue("\(entry.idempotencyKey)", forHTTPHeaderField: idempotencyHeader)
    do {
      return classify(try await exchange(request, operation, entry))
    } catch let error as URLError {
      return Self.outcome(of: error)
    }
  }

  private func exchange(
    _ request: URLRequest, _ operation: HTTPOperation, _ entry: OutboxEntry
  ) async throws -> HTTPReply {
    var request = request
    switch operation.body {
    case .empty where entry.attachments.isEmpty:
      return try await reply(connections.use { try await $0.data(for: request) })
    case .json(let text):
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      return try await reply(connections.use { try await $0.upload(for: request, from: Data(text.utf8)) })
    case .empty: return try await upload([], request, operation, entry)
    case .form(let fields): return try await upload(fields, request, operation, entry)
    }
  }

  private func upload(
    _ fields: [HTTPOperation.FormField], _ request: URLRequest, _ operation: HTTPOperation, _ entry: OutboxEntry
  ) async throws -> HTTPReply {
    let body = MultipartBody(
      boundary: "holdfast-\(entry.idempotencyKey)", fields: fields, attachments: entry.attachments,
      filePart: operation.filePart)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID()).multipart")
    defer { try? FileManager.default.removeItem(at: file) }
    try body.write(to: file.path)
    var request = request
    request.setValue(body.contentType, forHTTPHeaderField: "Content-Type")
    return try await reply(connections.upload(request, file))
  }

  /// Whole seconds, from one to a day: swift-corelibs-foundation drops fractions, and takes zero for a time-out at once.
  private var timeoutInterval: Double {
    let (seconds, attoseconds) = min(max(timeout, .seconds(1)), .seconds(86_400)).components
    return Double(seconds + (attoseconds > 0 ? 1 : 0))
  }

  private func reply(_ answer: (Data?, URLResponse)) throws -> HTTPReply {
    guard let response = answer.1 as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    var headers: [String: String] = [:]
    for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
    return HTTPReply(
      status: response.statusCode, headers: headers, body: Array((answer.0 ?? Data()).prefix(Self.replyLimit)))
  }

  /// What a failed connection means: where no byte of the request can have left, it does not count as an attempt.
  static func outcome(of error: URLError) -> SendOutcome {
    let reason = "\(error.localizedDescription) (URL error \(error.errorCode))"
    switch error.code {
    case .notConnectedToInternet, .dnsLookupFailed, .cannotFindHost, .cannotConnectToHost, .dataNotAllowed,
      .callIsActive, .internationalRoamingOff:
      return .notSent(reason: reason)
    default:
      return .transient(reason: reason)
    }
  }
}

/// Where the requests go through.
private final class Connections: Sendable {
  #if canImport(FoundationNetworking)
    /// Runs `exchange` on a session of its own, and so on a connection of its own.
    ///
    /// When a kept connection dies under a request with a body, libcurl goes on with a new one, but
    /// swift-corelibs-foundation cannot rewind the body, and spins until the timeout.
    func use(_ exchange: (URLSession) async throws -> (Data, URLResponse)) async throws -> (Data?, URLResponse) {
      let refusals = Refusals()
      let session = URLSession(configuration: .ephemeral, delegate: refusals, delegateQueue: nil)
      defer { session.finishTasksAndInvalidate() }
      do {
        return try await exchange(session)
      } catch let error as URLError where error.code == .cancelled {
        // What came with the challenge is the server's reply.
        guard let response = refusals.challenge else { throw error }
        return (nil, response)
      }
    }

    /// Uploads a file. Cancelling the task does not cut it short: swift-corelibs-foundation crashes when the upload of a
    /// file is cancelled while it is read. It ends with the reply or the timeout.
    func upload(_ request: URLRequest, _ file: URL) async throws -> (Data?, URLResponse) {
      try await Task { try await use { try await $0.upload(for: request, fromFile: file) } }.value
    }
  #else
    private let session = URLSession(configuration: .ephemeral, delegate: Refusals(), delegateQueue: nil)

    deinit { session.finishTasksAndInvalidate() }

    /// Runs `exchange` on the one session, which keeps connections.
    func use(_ exchange: (URLSession) async throws -> (Data, URLResponse)) async throws -> (Data?, URLResponse) {
      try await exchange(session)
    }

    /// Uploads a file.
    func upload(_ request: URLRequest, _ file: URL) async throws -> (Data?, URLResponse) {
      try await session.upload(for: request, fromFile: file)
    }
  #endif
}

/// Answers a redirect with the redirect itself, since a method other than GET must not be replayed elsewhere, and on Linux
/// a demand for credentials with none, since swift-corelibs-foundation would wait for ever.
private final class Refusals: NSObject, URLSessionTaskDelegate, Sendable {
  #if canImport(FoundationNetworking)
    private let response = Mutex<URLResponse?>(nil)

    /// The reply that asked for credentials, if one did.
    var challenge: URLResponse? { response.withLock { $0 } }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      response.withLock { $0 = challenge.failureResponse }
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  #endif

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
