import Holdfast
import HoldfastHTTP
import Testing

@Suite struct HTTPClassifierTests {
  private enum Class: Equatable { case delivered, transient, permanent, postponed(SendGate?), other }

  private func kind(_ outcome: SendOutcome) -> Class {
    switch outcome {
    case .delivered: .delivered
    case .transient: .transient
    case .permanent: .permanent
    case .postponed(_, let gate, _): .postponed(gate)
    default: .other
    }
  }

  private func kind(_ status: Int, _ headers: [String: String] = [:], body: String = "") -> Class {
    kind(HTTPClassifier.outcome(of: HTTPReply(status: status, headers: headers, body: Array(body.utf8))))
  }

  @Test(arguments: [200, 201, 202, 204, 299]) func successIsDelivered(_ status: Int) {
    #expect(HTTPClassifier.outcome(of: HTTPReply(status: status, body: [1, 2])) == .delivered(reply: [1, 2]))
  }

  @Test(arguments: [408, 409, 421, 423, 425, 429, 500, 501, 502, 503, 504, 599, 100, 999]) func mayPass(_ status: Int) {
    #expect(kind(status) == .transient)
  }

  @Test(arguments: [400, 402, 403, 404, 405, 406, 410, 411, 413, 415, 422, 451]) func isRefusedForGood(_ status: Int) {
    let outcome = HTTPClassifier.outcome(of: HTTPReply(status: status, body: Array("no  such\npost\u{1}".utf8)))
    #expect(outcome == .permanent(reason: "http \(status): no such post"))
  }

  @Test(arguments: [401, 407]) func refusedCredentialsCloseTheirGate(_ status: Int) {
    #expect(kind(status) == .postponed(.credentials))
  }

  @Test(arguments: [300, 301, 302, 303, 304, 307, 308, 511]) func somebodyInBetweenPunishesNoEntry(_ status: Int) {
    #expect(kind(status) == .postponed(.host))
  }

  @Test func aPageThatWasNotAskedForIsACaptivePortal() {
    for type in ["Text/HTML; charset=utf-8", "application/xhtml+xml"] {
      #expect(kind(200, ["content-type": type], body: "<p>Log in") == .postponed(.host))
    }
    let asked = HTTPReply(status: 200, headers: ["Content-Type": "text/html"], accept: "text/html")
    #expect(kind(HTTPClassifier.outcome(of: asked)) == .delivered)
    #expect(kind(400, ["Content-Type": "text/html"]) == .permanent)
  }

  @Test func aPauseThatIsAskedForClosesTheHost() {
    for status in [429, 503] {
      let reply = HTTPReply(status: status, headers: ["Retry-After": "7"])
      #expect(
        HTTPClassifier.outcome(of: reply)
          == .postponed(reason: "http \(status)", closing: .host, retryAfter: .seconds(7)))
      #expect(kind(status, ["Retry-After": "soon"]) == .transient)
    }
    let reply = HTTPReply(status: 500, headers: ["Retry-After": "7"])
    #expect(HTTPClassifier.outcome(of: reply) == .transient(reason: "http 500", retryAfter: .seconds(7)))
  }

  @Test func aFirstRequestThatStillRunsIsWaitedFor() {
    let problem = ["Content-Type": "application/problem+json"]
    #expect(
      kind(409, problem, body: #"{"title":"A request is outstanding for this Idempotency-Key"}"#) == .postponed(nil))
    #expect(kind(409, problem, body: #"{"title":"Version mismatch"}"#) == .transient)
  }

  @Test func whatALackOfAReplyMeans() {
    func outcome(_ kind: HTTPFailure.Kind, _ mayHaveBeenSent: Bool) -> SendOutcome {
      HTTPClassifier.outcome(of: HTTPFailure(kind, message: "m", mayHaveBeenSent: mayHaveBeenSent))
    }
    for kind in [HTTPFailure.Kind.noSuchHost, .noConnection, .notTrusted, .timedOut, .connectionLost] {
      #expect(outcome(kind, false) == .notSent(reason: "m", closing: .host))
      #expect(outcome(kind, true) == .ambiguous(reason: "m"))
    }
    #expect(outcome(.offline, false) == .notSent(reason: "m", closing: .network))
    #expect(outcome(.cancelled, false) == .notSent(reason: "m", closing: nil))
    #expect(outcome(.cancelled, true) == .interrupted)
    for sent in [false, true] { #expect(outcome(.contentUnreadable, sent) == .unsendable(reason: "m")) }
  }

  @Test func aRuleCanBeWrapped() {
    let classifier = HTTPClassifier(reply: { reply in
      reply.status == 409 ? .permanent(reason: "too late") : HTTPClassifier.outcome(of: reply)
    })
    #expect(classifier.reply(HTTPReply(status: 409)) == .permanent(reason: "too late"))
    #expect(classifier.reply(HTTPReply(status: 204)) == .delivered(reply: []))
    #expect(classifier.failure(HTTPFailure(.cancelled, message: "", mayHaveBeenSent: true)) == .interrupted)
  }
}
