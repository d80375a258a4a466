#if os(Linux)
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif
  import Networking

  /// Exchanges through libcurl.
  struct CurlTransport: HTTPTransport {
    private let client = CurlClient()

    func exchange(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPReply {
      let result = await client.perform(CurlRequest(request))
      let end: HTTPFailure.Kind? =
        switch result.end {
        case .answered: nil
        case .offline: .offline
        case .noSuchHost: .noSuchHost
        case .noConnection: .noConnection
        case .notTrusted: .notTrusted
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .contentUnreadable: .contentUnreadable
        case .lost: .connectionLost
        }
      guard let end else { return HTTPReply(to: request, status: result.status, headers: result.headers, result.body) }
      if result.proxyStatus == 407 { return HTTPReply(to: request, status: 407, headers: result.headers, []) }
      let message =
        if case .contentUnreadable(let path) = result.end {
          "the file \(path) is missing or is not the one that was staged; restore it"
        } else {
          "\(result.message) (libcurl \(result.code))"
        }
      throw HTTPFailure(end, message: message, mayHaveBeenSent: result.hasSent)
    }
  }

  extension CurlRequest {
    fileprivate init(_ request: HTTPRequest) {
      self.init(method: request.method, url: request.url.absoluteString)
      headers = request.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      content = request.content?.map { part in
        switch part {
        case .bytes(let bytes): .bytes(bytes)
        case .file(let path, let size): .file(path: path, size: size)
        }
      }
      silenceLimit = Int(request.limits.silence.wholeSeconds)
      totalLimit = Int(request.limits.total / .milliseconds(1))
      replyLimit = request.limits.reply
    }
  }
#endif
