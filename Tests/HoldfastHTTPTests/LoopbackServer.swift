import Foundation
import LMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An HTTP/1.1 server on a loopback address that does with each request what the test says.
final class LoopbackServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    /// Names in lower case.
    let headers: [String: String]
    /// The start of the body.
    let body: [UInt8]
    let bodySize: Int
    /// How many requests came before it on its connection.
    let index: Int

    var text: String { String(decoding: body, as: UTF8.self) }
  }

  enum Answer: Sendable {
    case reply(Int, [String: String] = [:], [UInt8] = [])
    /// Ends the connection without a reply.
    case close
    /// Answers and waits for the next request on the same connection.
    case keep(Int, [UInt8] = [])
    /// Promises more than it sends, then ends the connection.
    case breakOff
    /// Sends these bytes and ends the connection.
    case raw(String)
    /// Resets the connection, so that what was sent may be lost.
    case reset
    /// Sends nothing until the client goes away.
    case silence
    /// Sends the start of a body that never ends.
    case endless([UInt8])
  }

  /// How much of a body is kept.
  static let bodyLimit = 1 << 22

  let port: Int
  /// What arrives, when it has arrived in full.
  let requests: AsyncStream<Request>
  /// One element for each client that went away without a reply.
  let departures: AsyncStream<Void>
  private let listener: Int32
  private let early: @Sendable (Request) -> Answer?
  private let answer: @Sendable (Request) -> Answer
  private let arrived: AsyncStream<Request>.Continuation
  private let departed: AsyncStream<Void>.Continuation
  private let log = Monitor<[Request]>([])

  var received: [Request] { log.update { $0 } }
  let url: String

  /// - Parameters:
  ///   - host: `127.0.0.1`, `::1`, or `0.0.0.0` for all addresses of the machine.
  ///   - greeting: What to say to each client before it has said anything, and then to hang up.
  ///   - early: What to do when the header is there and the body is not; `nil` to go on.
  ///   - answer: What to do with a request. It may block: each connection has a thread.
  init(
    host: String = "127.0.0.1", greeting: String? = nil, early: @escaping @Sendable (Request) -> Answer? = { _ in nil },
    _ answer: @escaping @Sendable (Request) -> Answer
  ) throws {
    self.answer = answer
    self.early = early
    (requests, arrived) = AsyncStream.makeStream(of: Request.self)
    (departures, departed) = AsyncStream.makeStream(of: Void.self)
    (listener, port) = try Self.bind(host)
    url = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    try check(listen(listener, 64), "listen")
    Thread.detachNewThread { [self] in
      while true {
        let client = accept(listener, nil, nil)
        if client < 0 && errno == EINTR { continue }
        guard client >= 0 else {
          Self.end(listener)
          return
        }
        Thread.detachNewThread { [self] in
          if let greeting {
            Self.transmit(Array(greeting.utf8), client)
            Self.end(client)
            return
          }
          var index = 0
          while true {
            guard let stays = serve(client, index) else { return }
            if !stays {
              Self.end(client)
              return
            }
            index += 1
          }
        }
      }
    }
  }

  /// Accepts no more connections; without it, the server lives as long as the process.
  ///
  /// The socket is left to the thread that accepts: closed here, its number could be that of another server's by then.
  func stop() { _ = shutdown(listener, Int32(SHUT_RDWR)) }

  /// A port that refuses connections for as long as `body` runs, since somebody has it and does not listen.
  static func withRefusingPort<R>(_ body: (Int) async throws -> R) async throws -> R {
    let (socket, port) = try bind()
    defer { end(socket) }
    return try await body(port)
  }

  private static func end(_ socket: Int32) {
    _ = shutdown(socket, Int32(SHUT_RDWR))
    _ = close(socket)
  }

  private static func bind(_ host: String = "127.0.0.1") throws -> (Int32, Int) {
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = stream
    var found: UnsafeMutablePointer<addrinfo>?
    try check(getaddrinfo(host, "0", &hints, &found) == 0 ? 0 : -1, "getaddrinfo")
    defer { freeaddrinfo(found) }
    let address = found!.pointee
    let socket = try check(socket(address.ai_family, stream, 0), "socket")
    #if canImport(Darwin)
      try check(Darwin.bind(socket, address.ai_addr, address.ai_addrlen), "bind")
    #elseif canImport(Glibc)
      try check(Glibc.bind(socket, address.ai_addr, address.ai_addrlen), "bind")
    #elseif canImport(Musl)
      try check(Musl.bind(socket, address.ai_addr, address.ai_addrlen), "bind")
    #endif
    // The port is at the same place in the addresses of both families.
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let port = try withUnsafeMutableBytes(of: &storage) { bytes in
      try check(getsockname(socket, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length), "getsockname")
      return bytes.load(fromByteOffset: 2, as: UInt16.self)
    }
    return (socket, Int(UInt16(bigEndian: port)))
  }

  /// Serves one request; returns whether the connection stays, or `nil` if it is closed already.
  private func serve(_ client: Int32, _ index: Int) -> Bool? {
    var bytes: [UInt8] = []
    var bodyStart: Int?
    var scanned = 0
    while bodyStart == nil {
      guard let more = Self.receive(client) else { return false }
      bytes += more
      bodyStart = Self.endOfHeader(bytes, from: max(0, scanned - 3))
      scanned = bytes.count
    }
    guard let bodyStart else { return false }
    let lines = String(decoding: bytes[..<bodyStart], as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].components(separatedBy: " ")
    let headers = Dictionary(
      lines.dropFirst().compactMap { line in
        line.firstIndex(of: ":").map {
          (line[..<$0].lowercased(), line[line.index(after: $0)...].trimmingCharacters(in: .whitespaces))
        }
      }, uniquingKeysWith: { "\($0), \($1)" })
    var body = Array(bytes[bodyStart...])
    var size = body.count
    func request() -> Request {
      Request(method: words[0], target: words[1], headers: headers, body: body, bodySize: size, index: index)
    }
    if let answer = early(request()) {
      log.update { $0.append(request()) }
      return respond(answer, client)
    }
    let expected = headers["content-length"].flatMap { Int($0) } ?? 0
    while size < expected {
      guard let more = Self.receive(client) else { return false }
      size += more.count
      if body.count < Self.bodyLimit { body += more }
    }
    let request = request()
    log.update { $0.append(request) }
    arrived.yield(request)
    return respond(answer(request), client)
  }

  private func respond(_ answer: Answer, _ client: Int32) -> Bool? {
    switch answer {
    case .keep(let status, let body):
      Self.transmit(Array("HTTP/1.1 \(status) Reason\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body, client)
      return true
    case .reply(let status, let headers, let body):
      let fields = headers.map { "\($0): \($1)\r\n" }.joined()
      let head = "HTTP/1.1 \(status) Reason\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\(fields)\r\n"
      Self.transmit(Array(head.utf8) + body, client)
    case .close: break
    case .raw(let text): Self.transmit(Array(text.utf8), client)
    case .reset:
      var now = linger(l_onoff: 1, l_linger: 0)
      _ = setsockopt(client, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
      // Not shut down, which would say goodbye first.
      _ = close(client)
      return nil
    case .breakOff: Self.transmit(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this".utf8), client)
    case .endless(let body):
      Self.transmit(Array("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n".utf8) + body, client)
      fallthrough
    case .silence:
      while Self.receive(client) != nil {}
      departed.yield()
    }
    return false
  }

  private static func endOfHeader(_ bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= 4 else { return nil }
    for index in start...(bytes.count - 4) where bytes[index..<(index + 4)].elementsEqual([13, 10, 13, 10]) {
      return index + 4
    }
    return nil
  }

  private static func receive(_ client: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = buffer.withUnsafeMutableBytes { recv(client, $0.baseAddress, $0.count, 0) }
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  private static func transmit(_ bytes: [UInt8], _ client: Int32) {
    #if canImport(Darwin)
      var on: Int32 = 1
      setsockopt(client, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}

@discardableResult
private func check(_ code: Int32, _ call: String) throws -> Int32 {
  guard code >= 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO, userInfo: ["call": call]) }
  return code
}
