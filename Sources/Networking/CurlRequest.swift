#if os(Linux)
  /// One HTTP request, for ``CurlClient``.
  package struct CurlRequest: Sendable {
    /// A piece of the content.
    package enum Part: Sendable, Hashable {
      case bytes([UInt8])
      /// A file that is read while it is sent; it must have this size.
      case file(path: String, size: Int)

      package var size: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, let size): size
        }
      }
    }

    package var method: String
    package var url: String
    package var headers: [(name: String, value: String)] = []
    /// The content in order; `nil` for a request that has none, not even an empty one.
    package var content: [Part]?
    /// For how many whole seconds the connection may be silent.
    package var silenceLimit = 60
    /// For how many milliseconds the exchange may last.
    package var totalLimit = 3_600_000
    /// How many bytes of the reply's content are read; the rest is left on the wire.
    package var replyLimit = 1 << 20

    package init(method: String, url: String) {
      self.method = method
      self.url = url
    }
  }

  /// How an exchange ended.
  package struct CurlResult: Sendable {
    package enum End: Sendable, Hashable {
      /// The reply is there, all of it or up to the limit.
      case answered
      /// The machine has no way to any network.
      case offline
      case noSuchHost
      case noConnection
      /// The server could not prove who it is, or TLS could not be agreed on.
      case notTrusted
      case timedOut
      case cancelled
      /// A file of the content is gone, or is not as long as was said.
      case contentUnreadable(path: String)
      /// The connection broke, or what came is not HTTP.
      case lost
    }

    package var end = End.lost
    /// What libcurl says about it, and its code.
    package var message = ""
    package var code: Int32 = 0
    /// The status of the reply, or of a proxy that refused the way to the server; 0 if there is none.
    package var status = 0
    package var proxyStatus = 0
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8] = []
    /// Whether a byte of the request has left, as counted where it is written.
    package var hasSent = false
  }
#endif
