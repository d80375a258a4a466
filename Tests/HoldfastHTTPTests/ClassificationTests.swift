import Foundation
import Holdfast
import Testing

@testable import HoldfastHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct ClassificationTests {
  private enum Class { case delivered, transient, permanent, notSent }

  private func kind(_ outcome: SendOutcome) -> Class {
    switch outcome {
    case .delivered: .delivered
    case .transient, .interrupted, .postponed, .ambiguous: .transient
    case .permanent: .permanent
    case .notSent, .unsendable: .notSent
    }
  }

  @Test(arguments: [200, 201, 202, 204, 299]) func successIsDelivered(_ status: Int) {
    let reply = HTTPReply(status: status, body: [1, 2])
    #expect(SendOutcome(classifying: reply) == .delivered(reply: [1, 2]))
  }

  @Test(arguments: [401, 407, 408, 409, 425, 429, 500, 501, 502, 503, 504, 599, 301, 302, 303, 307, 308, 304, 100])
  func mayPass(_ status: Int) {
    #expect(kind(SendOutcome(classifying: HTTPReply(status: status))) == .transient)
  }

  @Test(arguments: [400, 403, 404, 405, 410, 411, 413, 415, 422, 451]) func isRefusedForGood(_ status: Int) {
    let outcome = SendOutcome(classifying: HTTPReply(status: status, body: Array("no  such\npost".utf8)))
    #expect(outcome == .permanent(reason: "http \(status): no such post"))
  }

  @Test func aPageOfHTMLIsNotASuccess() {
    let portal = HTTPReply(
      status: 200, headers: ["content-type": "Text/HTML; charset=utf-8"], body: Array("<p>Log in".utf8))
    #expect(kind(SendOutcome(classifying: portal)) == .transient)
  }

  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test(
    arguments: [
      ("120", 120), ("0", nil), ("  7 ", 7), ("-5", nil), ("1e3", nil), ("1000000000000", 86_400),
      (String(repeating: "9", count: 400), 86_400), ("soon", nil), ("", nil),
      ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
      ("Sun, 06 Nov 1994 08:48:37 GMT", nil), ("Sun, 06 Nov 2094 08:50:37 GMT", 86_400),
    ] as [(String, Int?)])
  func retryAfter(_ text: String, _ seconds: Int?) {
    let reply = HTTPReply(status: 503, headers: ["retry-after": text, "Date": Self.date])
    #expect(reply.retryAfter == seconds.map { .seconds($0) })
  }

  @Test func aDateWithoutTheServersOwnIsNoWait() {
    #expect(HTTPReply(status: 503, headers: ["Retry-After": Self.date]).retryAfter == nil)
  }

  @Test func onlyWhatSurelyDidNotLeaveIsNotSent() {
    for code in [URLError.notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed] {
      #expect(kind(HTTPSender.outcome(of: URLError(code))) == .notSent)
    }
    for code in [URLError.timedOut, .networkConnectionLost, .cancelled, .unknown, .secureConnectionFailed] {
      #expect(kind(HTTPSender.outcome(of: URLError(code))) == .transient)
    }
  }
}
