// Not on Linux, where `URLSession` has faults that Holdfast cannot live with; see `CurlClient`. With the flag it is
// compiled there too, so that the compiler and the tests can look at it.
#if !os(Linux) || HOLDFAST_URLSESSION
  import Foundation
  import LMDB

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// Exchanges through `URLSession`.
  final class URLSessionTransport: HTTPTransport {
    private let tasks = SessionTasks()
    private let session: URLSession
    private let files: ContentFiles

    init(total: Duration) {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      // How many requests are on their way at once is for the drain to say.
      configuration.httpMaximumConnectionsPerHost = 64
      configuration.timeoutIntervalForResource = Double(total.wholeSeconds)
      session = URLSession(configuration: configuration, delegate: tasks, delegateQueue: nil)
      files = ContentFiles(FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-http"))
    }

    deinit { session.finishTasksAndInvalidate() }

    func exchange(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPReply {
      var native = URLRequest(
        url: request.url, cachePolicy: .reloadIgnoringLocalCacheData,
        timeoutInterval: Double(request.limits.silence.wholeSeconds))
      native.httpMethod = request.method
      for (name, value) in request.headers { native.setValue(value, forHTTPHeaderField: name) }
      guard let content = request.content else { return try await tasks.run(session.dataTask(with: native), request) }
      if let bytes = content.bytes {
        return try await tasks.run(session.uploadTask(with: native, from: Data(bytes)), request)
      }
      let file = try await files.write(content)
      defer { files.remove(file) }
      return try await tasks.run(session.uploadTask(with: native, fromFile: file), request)
    }
  }

  extension [HTTPRequest.Part] {
    /// The content, if no file is part of it.
    fileprivate var bytes: [UInt8]? {
      var all: [UInt8] = []
      for part in self {
        guard case .bytes(let bytes) = part else { return nil }
        all += bytes
      }
      return all
    }
  }

  /// The tasks of a session that are on their way.
  ///
  /// Written with a delegate, because the session's own `async` calls follow redirects and keep however long a reply.
  private final class SessionTasks: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
      let request: HTTPRequest
      var continuation: CheckedContinuation<Result<HTTPReply, HTTPFailure>, Never>?
      /// What a task that was cancelled at once ended with, before anybody waited for it.
      var earlyResult: Result<HTTPReply, HTTPFailure>?
      var body: [UInt8] = []
      /// What is known of bytes that have left; `nil` where the system does not tell.
      var hasSent: Bool?
      /// The server asks for credentials: its reply stands, although the task ends as cancelled.
      var isChallenged = false
    }

    private let exchanges = Monitor<[Int: Exchange]>([:])

    func run(_ task: URLSessionTask, _ request: HTTPRequest) async throws(HTTPFailure) -> HTTPReply {
      let id = task.taskIdentifier
      exchanges.update { $0[id] = Exchange(request: request) }
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let known = exchanges.update { exchanges -> Result<HTTPReply, HTTPFailure>? in
            if Task.isCancelled { exchanges[id]?.earlyResult = .failure(.cancelledBeforeStart) }
            guard let known = exchanges[id]?.earlyResult else {
              exchanges[id]?.continuation = continuation
              return nil
            }
            exchanges[id] = nil
            return known
          }
          if let known { continuation.resume(returning: known) } else { task.resume() }
        }
      } onCancel: {
        task.cancel()
      }
      return try result.get()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      let full = exchanges.update { exchanges -> Exchange? in
        guard var exchange = exchanges.removeValue(forKey: dataTask.taskIdentifier) else { return nil }
        let room = exchange.request.limits.reply - exchange.body.count
        exchange.body += data.prefix(room)
        if data.count > room { return exchange }
        exchanges[dataTask.taskIdentifier] = exchange
        return nil
      }
      guard let full else { return }
      finish(full, dataTask, nil)
      dataTask.cancel()
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      switch challenge.protectionSpace.authenticationMethod {
      case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM,
        NSURLAuthenticationMethodNegotiate:
        exchanges.update { $0[task.taskIdentifier]?.isChallenged = true }
        completionHandler(.rejectProtectionSpace, nil)
      default: completionHandler(.performDefaultHandling, nil)
      }
    }

    #if canImport(Darwin)
      func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
      ) {
        let hasSent = metrics.transactionMetrics.contains { $0.countOfRequestHeaderBytesSent > 0 }
        exchanges.update { $0[task.taskIdentifier]?.hasSent = hasSent }
      }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let id = task.taskIdentifier
      let exchange = exchanges.update { exchanges -> Exchange? in
        if exchanges[id]?.continuation != nil { return exchanges.removeValue(forKey: id) }
        exchanges[id]?.earlyResult = .failure(.cancelledBeforeStart)
        return nil
      }
      if let exchange { finish(exchange, task, exchange.isChallenged ? nil : error) }
    }

    private func finish(_ exchange: Exchange, _ task: URLSessionTask, _ error: (any Error)?) {
      guard error == nil, let response = task.response as? HTTPURLResponse else {
        exchange.continuation?.resume(returning: .failure(HTTPFailure(error, of: task, hasSent: exchange.hasSent)))
        return
      }
      let headers = response.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
      exchange.continuation?.resume(
        returning: .success(
          HTTPReply(to: exchange.request, status: response.statusCode, headers: headers, exchange.body)))
    }
  }

  extension HTTPFailure {
    fileprivate static let cancelledBeforeStart = HTTPFailure(
      .cancelled, message: "the attempt was cancelled before it began", mayHaveBeenSent: false)

    fileprivate init(_ error: (any Error)?, of task: URLSessionTask, hasSent: Bool?) {
      let code = (error as? URLError)?.code
      let kind: Kind
      // Whether there was no connection to send on, by the code alone.
      var isUnconnected = true
      switch code {
      case .notConnectedToInternet, .dataNotAllowed, .callIsActive, .internationalRoamingOff: kind = .offline
      case .cannotFindHost, .dnsLookupFailed: kind = .noSuchHost
      case .cannotConnectToHost: kind = .noConnection
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid, .serverCertificateUntrusted, .clientCertificateRejected,
        .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
        kind = .notTrusted
      default:
        kind = code == .timedOut ? .timedOut : code == .cancelled ? .cancelled : .connectionLost
        isUnconnected = false
      }
      let isKnownToHaveSent = task.response != nil || task.countOfBytesSent > 0
      self.init(
        kind, message: "\(error?.localizedDescription ?? "the reply is not HTTP") (URL error \(code?.rawValue ?? 0))",
        mayHaveBeenSent: isKnownToHaveSent || (hasSent ?? !isUnconnected))
    }
  }
#endif
