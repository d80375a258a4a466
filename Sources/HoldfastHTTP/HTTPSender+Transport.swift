extension HTTPSender {
  static func systemTransport(total: Duration) -> any HTTPTransport {
    #if os(Linux) && !HOLDFAST_URLSESSION
      CurlTransport()
    #else
      URLSessionTransport(total: total)
    #endif
  }
}

extension Duration {
  /// Seconds, rounded up, so that a wait is never cut short.
  var wholeSeconds: Int64 {
    let (seconds, attoseconds) = components
    return attoseconds > 0 ? seconds + 1 : seconds
  }
}
