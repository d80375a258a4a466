import Foundation
import LMDB
import TestSupport
import Testing

@testable import HoldfastHTTP

/// One exchange, without an outbox.
@Suite struct HTTPTransportTests {
  private let directory = TemporaryDirectory()
  private let transport = HTTPSender.systemTransport(total: .seconds(3600))

  private func request(
    _ method: String, _ url: String, content: [HTTPRequest.Part]? = nil, total: Duration = .seconds(3600),
    reply: Int = 1 << 20
  ) throws -> HTTPRequest {
    HTTPRequest(
      method: method, url: try #require(URL(string: url)), headers: ["X-App": "7", "X-Empty": ""], content: content,
      limits: .init(silence: .seconds(3600), total: total, reply: reply))
  }

  private func failure(_ request: HTTPRequest) async throws -> HTTPFailure {
    do throws(HTTPFailure) {
      let reply = try await transport.exchange(request)
      throw HTTPFailure(.connectionLost, message: "unexpected reply \(reply)", mayHaveBeenSent: false)
    } catch {
      return error
    }
  }

  @Test func theRequestIsWhatWasSaid() async throws {
    let server = try LoopbackServer { _ in .keep(201, Array("made".utf8)) }
    defer { server.stop() }
    let path = "\(directory.path)/file"
    try Data("in a file".utf8).write(to: URL(fileURLWithPath: path))
    let content: [HTTPRequest.Part] = [.bytes(Array("<".utf8)), .file(path: path, size: 9), .bytes([]), .bytes([62])]
    let reply = try await transport.exchange(request("PATCH", server.url + "a?b=c", content: content))
    #expect(reply.status == 201 && reply.body == Array("made".utf8) && reply.header("content-length") == "4")
    let received = try #require(server.received.first)
    #expect(received.method == "PATCH" && received.target == "/a?b=c" && received.text == "<in a file>")
    #expect(received.headers["x-app"] == "7" && received.headers["x-empty"] == "" && received.headers["expect"] == nil)
    #expect(received.headers["transfer-encoding"] == nil && received.headers["content-length"] == "11")
    _ = try await transport.exchange(request("GET", server.url))
    #expect(server.received[1].headers["content-length"] == nil)
    #expect(try await transport.exchange(request("POST", server.url, content: [])).status == 201)
    #expect(server.received[2].headers["content-length"] == "0")
    #expect(server.received.contains { $0.index > 0 }, "the connection is used again")
    #expect(try await transport.exchange(request("DELETE", server.url)).status == 201)
  }

  @Test func aHeadHasNoContent() async throws {
    let server = try LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n") }
    defer { server.stop() }
    let reply = try await transport.exchange(request("HEAD", server.url))
    #expect(reply.status == 200 && reply.body == [] && reply.header("Content-Length") == "99")
  }

  @Test func interimRepliesAreNotTheReply() async throws {
    let server = try LoopbackServer { _ in
      .raw("HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n")
    }
    defer { server.stop() }
    let reply = try await transport.exchange(request("POST", server.url, content: []))
    #expect(reply.status == 200 && reply.header("X-A") == nil && reply.header("X-B") == "2")
  }

  @Test(arguments: [0, 5]) func aReplyWithoutEndIsCutShort(_ limit: Int) async throws {
    let server = try LoopbackServer { _ in .endless(Array("0123456789".utf8)) }
    defer { server.stop() }
    let reply = try await transport.exchange(request("POST", server.url, content: [], reply: limit))
    #expect(reply.status == 200 && reply.body == Array("0123456789".utf8.prefix(limit)))
    // The rest is not read: the connection is closed.
    var departures = server.departures.makeAsyncIterator()
    await departures.next()
  }

  @Test func aLengthThatCannotBeIsSurvived() async throws {
    let server = try LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello") }
    defer { server.stop() }
    let failure = try await self.failure(request("POST", server.url, content: []))
    #expect(failure.kind == .connectionLost && failure.mayHaveBeenSent)
  }

  @Test func anIPv6LiteralIsAHost() async throws {
    let server: LoopbackServer
    do { server = try LoopbackServer(host: "::1") { _ in .reply(204) } } catch {
      print("skipped: this machine has no IPv6 loopback: \(error)")
      return
    }
    defer { server.stop() }
    #expect(try await transport.exchange(request("GET", server.url)).status == 204)
  }

  @Test(arguments: ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "Negotiate", "NTLM"])
  func aDemandForCredentialsIsAReply(_ challenge: String) async throws {
    let server = try LoopbackServer { _ in .reply(401, ["WWW-Authenticate": challenge], Array("no".utf8)) }
    defer { server.stop() }
    let reply = try await transport.exchange(request("POST", server.url, content: [.bytes([1])]))
    #expect(reply.status == 401 && server.received.count == 1)
  }

  #if os(Linux)
    @Test(arguments: [407, 403]) func aProxyMayStandInTheWay(_ status: Int) async throws {
      let proxy = try LoopbackServer { _ in .raw("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n") }
      defer { proxy.stop() }
      await #expect(processExitsWith: .success) { [url = proxy.url as String, status = status as Int] in
        setenv("https_proxy", url, 1)
        let request = HTTPRequest(
          method: "POST", url: try #require(URL(string: "https://nowhere.invalid/")), headers: [:], content: [],
          limits: .init(silence: .seconds(3600), total: .seconds(3600), reply: 1000))
        do throws(HTTPFailure) {
          let reply = try await HTTPSender.systemTransport(total: .seconds(3600)).exchange(request)
          #expect(status == 407 && reply.status == 407)
        } catch {
          #expect(status == 403 && !error.mayHaveBeenSent)
        }
      }
      #expect(proxy.received.map(\.method) == ["CONNECT"])
    }
  #endif

  // MARK: Failures, and whether the request may have been sent

  @Test func aRefusedConnectionSendsNothing() async throws {
    try await LoopbackServer.withRefusingPort { port in
      let failure = try await self.failure(request("POST", "http://127.0.0.1:\(port)/", content: [.bytes([1])]))
      #expect(failure.kind == .noConnection && !failure.mayHaveBeenSent)
    }
  }

  @Test func aHostThatDoesNotExistIsToldApart() async throws {
    let failure = try await self.failure(request("POST", "http://nowhere.invalid/", content: []))
    #expect(failure.kind == .noSuchHost && !failure.mayHaveBeenSent)
  }

  @Test func aLostReplyMayHaveBeenSent() async throws {
    for answer in [LoopbackServer.Answer.close, .reset, .breakOff, .raw("SSH-2.0-x\r\n")] {
      let server = try LoopbackServer { _ in answer }
      defer { server.stop() }
      let failure = try await self.failure(request("POST", server.url, content: [.bytes([1])]))
      #expect(failure.kind == .connectionLost && failure.mayHaveBeenSent, "\(answer): \(failure)")
      #expect(server.received.count == 1, "it is not sent again on its own")
    }
  }

  /// `localhost` has two addresses, of which one refuses: the failure of the other must not be taken for "no connection".
  @Test func aLostReplyOfTheSecondAddressMayHaveBeenSent() async throws {
    let server = try LoopbackServer { _ in .close }
    defer { server.stop() }
    let failure = try await self.failure(request("POST", "http://localhost:\(server.port)/"))
    #expect(server.received.count == 1 && failure.mayHaveBeenSent, "\(failure)")
  }

  @Test func aKeptConnectionThatDiesIsNotTriedTwice() async throws {
    let server = try LoopbackServer { $0.index == 0 ? .keep(200) : .close }
    defer { server.stop() }
    for content in [nil, [], [.bytes(Array("once".utf8))]] as [[HTTPRequest.Part]?] {
      let request = try request("POST", server.url, content: content)
      var failure: HTTPFailure?
      // The second request finds the connection dead; or a later one, if the first was so long ago that nobody keeps it.
      for _ in 1...5 where failure == nil {
        let before = server.received.count
        do throws(HTTPFailure) {
          _ = try await transport.exchange(request)
        } catch {
          failure = error
        }
        #expect(server.received.count == before + 1)
      }
      #expect(failure?.mayHaveBeenSent == true)
    }
  }

  @Test func theTotalTimeIsLimited() async throws {
    let server = try LoopbackServer { _ in .silence }
    defer { server.stop() }
    let failure = try await self.failure(request("POST", server.url, content: [.bytes([1])], total: .milliseconds(200)))
    #expect(failure.kind == .timedOut && failure.mayHaveBeenSent)
  }

  @Test func cancellingClosesTheConnectionAtOnce() async throws {
    let server = try LoopbackServer { _ in .silence }
    defer { server.stop() }
    let request = try self.request("POST", server.url, content: [.bytes([1])])
    let attempt = Task { try await failure(request) }
    var requests = server.requests.makeAsyncIterator()
    _ = await requests.next()
    attempt.cancel()
    let outcome = try await attempt.value
    #expect(outcome.kind == .cancelled && outcome.mayHaveBeenSent)
    var departures = server.departures.makeAsyncIterator()
    await departures.next()
  }

  @Test func anUploadOfAFileCanBeCancelledAtAnyTime() async throws {
    let server = try LoopbackServer(early: { $0.target == "/stop" ? .silence : nil }) { _ in .reply(200) }
    defer { server.stop() }
    let path = "\(directory.path)/file"
    try Data(count: 3_000_000).write(to: URL(fileURLWithPath: path))
    for round in 0..<30 {
      let request = try self.request("POST", server.url + "stop", content: [.file(path: path, size: 3_000_000)])
      let attempt = Task { try await failure(request) }
      for _ in 0..<round * 40 { await Task.yield() }
      attempt.cancel()
      #expect(try await attempt.value.kind == .cancelled)
    }
    let request = try self.request("POST", server.url, content: [.file(path: path, size: 3_000_000)])
    #expect(try await transport.exchange(request).status == 200, "and the next one goes through")
    #expect(server.received.last?.bodySize == 3_000_000)
  }

  @Test func aCancelledTaskSendsNothing() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let request = try self.request("POST", server.url, content: [])
    let outcome = try await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await failure(request)
    }.value
    #expect(outcome.kind == .cancelled && !outcome.mayHaveBeenSent && server.received.isEmpty)
  }

  @Test func aFileThatIsNotTheOneThatWasStagedIsNeverSentInPart() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let path = "\(directory.path)/file"
    try Data("1234".utf8).write(to: URL(fileURLWithPath: path))
    for (path, size) in [(path, 3), (path, 5), ("\(path).gone", 4), (directory.path, 4)] {
      let failure = try await self.failure(request("POST", server.url, content: [.file(path: path, size: size)]))
      #expect(failure.kind == .contentUnreadable && failure.message.contains(path), "\(failure)")
    }
    #expect(server.received.isEmpty)
  }

  @Test func manyExchangesShareTheThread() async throws {
    let server = try LoopbackServer { .reply(200, [:], $0.body) }
    defer { server.stop() }
    let url = server.url
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          let body = Array("\(number)".utf8)
          let reply = try await transport.exchange(request("POST", url, content: [.bytes(body)]))
          #expect(reply.body == body)
        }
      }
      try await group.waitForAll()
    }
    #expect(server.received.count == 64)
  }
}
