#if os(Linux)
  import CCurl
  import Glibc
  import Synchronization

  /// One exchange on its way through libcurl.
  @safe
  final class CurlTransfer: @unchecked Sendable {
    // Sendable: everything but the flag is touched only by the thread of the client, once it has been handed over.

    /// The most bytes of header lines that are kept.
    private static let headerLimit = 1 << 18

    let isCancelled = Atomic(false)
    private let request: CurlRequest
    private let continuation: CheckedContinuation<CurlResult, Never>
    private var reader: ContentReader
    private var result = CurlResult()
    private var headerSize = 0
    private var starts = 0
    private var isFull = false
    private var isOffline = false
    private(set) var handle: UnsafeMutableRawPointer?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let message: UnsafeMutablePointer<CChar>

    init(_ request: CurlRequest, _ continuation: CheckedContinuation<CurlResult, Never>) {
      self.request = request
      self.continuation = continuation
      reader = ContentReader(request.content ?? [])
      unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
      unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit { unsafe message.deallocate() }

    /// Makes the handle for libcurl.
    ///
    /// - Returns: The handle, or `nil` if there is no room for one.
    func open() -> UnsafeMutableRawPointer? {
      guard let handle = unsafe curl_easy_init() else { return nil }
      unsafe self.handle = unsafe handle
      var codes: [CURLcode] = []
      func set(_ option: CURLoption, _ value: Int) {
        codes.append(unsafe holdfast_curl_set_long(handle, option, value))
      }
      func set(_ option: CURLoption, _ value: String) {
        codes.append(unsafe holdfast_curl_set_string(handle, option, value))
      }
      set(CURLOPT_URL, request.url)
      codes.append(unsafe holdfast_curl_allow_http_only(handle))
      set(CURLOPT_NOSIGNAL, 1)
      set(CURLOPT_FOLLOWLOCATION, 0)
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      set(CURLOPT_CONNECTTIMEOUT_MS, request.silenceLimit * 1000)
      set(CURLOPT_LOW_SPEED_LIMIT, 1)
      set(CURLOPT_LOW_SPEED_TIME, request.silenceLimit)
      set(CURLOPT_TIMEOUT_MS, request.totalLimit)
      if let content = request.content {
        set(CURLOPT_UPLOAD, 1)
        let size = content.reduce(0) { $0 + $1.size }
        codes.append(unsafe holdfast_curl_set_size(handle, CURLOPT_INFILESIZE_LARGE, size))
        set(CURLOPT_CUSTOMREQUEST, request.method)
      } else if request.method == "HEAD" {
        set(CURLOPT_NOBODY, 1)
      } else {
        set(CURLOPT_HTTPGET, 1)
        set(CURLOPT_CUSTOMREQUEST, request.method)
      }
      // An interim reply that never comes would cost each large request a second.
      for (name, value) in request.headers + [("Expect", "")] { addHeader(name, value) }
      codes.append(unsafe holdfast_curl_set_headers(handle, headers))
      codes.append(unsafe setCallbacks(handle))
      if !codes.allSatisfy({ $0 == CURLE_OK }) { return nil }
      return unsafe handle
    }

    private func addHeader(_ name: String, _ value: String) {
      // With nothing behind the colon, libcurl would leave the header out; it does so on purpose for `Expect`.
      let line = value.isEmpty && name != "Expect" ? "\(name);" : "\(name): \(value)"
      if let longer = unsafe curl_slist_append(headers, line) { unsafe headers = unsafe longer }
    }

    private func setCallbacks(_ handle: UnsafeMutableRawPointer) -> CURLcode {
      unsafe holdfast_curl_set_callbacks(
        handle,
        { bytes, _, count, context in
          unsafe CurlTransfer.from(context).takeHeader(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        },
        { bytes, _, count, context in
          unsafe CurlTransfer.from(context).takeBody(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        },
        { bytes, size, count, context in
          let room = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
          return unsafe CurlTransfer.from(context).reader.read(into: room) ?? Int(CURL_READFUNC_ABORT)
        },
        { context, _, _, _, _ in
          unsafe CurlTransfer.from(context).mayStart() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        },
        Unmanaged.passUnretained(self).toOpaque(), message)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
      // The client keeps the transfer until its handle is closed.
      guard let context = unsafe context else { preconditionFailure("A callback of libcurl came without its context.") }
      return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// A connection is there and the request is about to be written.
    ///
    /// When a kept connection turns out to be dead, libcurl would send the request once more by itself. Whether an entry
    /// may be sent twice is for the outbox to say.
    private func mayStart() -> Bool {
      starts += 1
      return starts == 1
    }

    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
      headerSize += bytes.count
      guard headerSize <= Self.headerLimit else { return false }
      let line = unsafe String(decoding: bytes, as: UTF8.self).trimmingWhitespace
      if line.hasPrefix("HTTP/") {
        // A final reply after interim ones.
        result.headers = []
      } else if let colon = line.firstIndex(of: ":") {
        let value = String(line[line.index(after: colon)...]).trimmingWhitespace
        result.headers.append((String(line[..<colon]), value))
      }
      return true
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
      let room = request.replyLimit - result.body.count
      unsafe result.body.append(contentsOf: bytes.prefix(room))
      isFull = bytes.count > room
      return !isFull
    }

    /// Closes the handle, which libcurl must have let go, and answers.
    func finish(_ code: CURLcode?) {
      if let handle = unsafe handle {
        result.status = unsafe holdfast_curl_long(handle, CURLINFO_RESPONSE_CODE)
        result.proxyStatus = unsafe holdfast_curl_long(handle, CURLINFO_HTTP_CONNECTCODE)
        result.hasSent = unsafe starts > 0 && holdfast_curl_long(handle, CURLINFO_REQUEST_SIZE) > 0
        isOffline = unsafe [Int(ENETUNREACH), Int(ENETDOWN)].contains(holdfast_curl_long(handle, CURLINFO_OS_ERRNO))
        unsafe curl_easy_cleanup(handle)
      }
      unsafe curl_slist_free_all(headers)
      unsafe handle = nil
      unsafe headers = nil
      result.end = end(code)
      if let code { result.code = Int32(bitPattern: code.rawValue) }
      result.message = unsafe String(cString: message)
      if result.message.isEmpty, let code { result.message = unsafe String(cString: curl_easy_strerror(code)) }
      continuation.resume(returning: result)
    }

    private func end(_ code: CURLcode?) -> CurlResult.End {
      guard let code else { return .cancelled }
      if let path = reader.failedPath { return .contentUnreadable(path: path) }
      switch code {
      case CURLE_OK: return .answered
      case CURLE_WRITE_ERROR where isFull: return .answered
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: return .noSuchHost
      case CURLE_COULDNT_CONNECT where isOffline: return .offline
      case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: return .noConnection
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return .notTrusted
      case CURLE_OPERATION_TIMEDOUT: return .timedOut
      default: return .lost
      }
    }
  }

  extension String {
    /// The text without blanks, tabs and line ends around it.
    fileprivate var trimmingWhitespace: String {
      guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
      else { return "" }
      return String(self[first...last])
    }
  }
#endif
