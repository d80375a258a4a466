import HoldfastHTTP
import Testing

@Suite struct RetryAfterTests {
  @Test(
    arguments: [
      ("0", nil), ("120", 120), (" 120\t", 120), ("007", 7), ("86400", 86400), ("86401", 86400),
      ("1000000000000", 86400), (String(repeating: "9", count: 400), 86400),
      ("-1", nil), ("+5", nil), ("1.5", nil), ("1e3", nil), ("", nil), ("  ", nil), ("soon", nil), ("120, 60", nil),
      ("٣", nil), ("0x10", nil),
    ] as [(String, Int?)])
  func seconds(_ value: String, _ expected: Int?) {
    let reply = HTTPReply(status: 503, headers: ["RETRY-AFTER": value])
    #expect(reply.retryAfter == expected.map { .seconds($0) })
  }

  // The Date of the reply is 1994: the clock of this device cannot have a part in the result.
  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:51:07 GMT", 90),
      ("Mon, 07 Nov 1994 08:49:37 GMT", 86400), ("Mon, 07 Nov 1994 08:49:38 GMT", 86400),
      ("Sun, 06 Nov 2094 08:49:37 GMT", 86400), ("Sun, 06 Nov 1994 08:00:00 GMT", nil),
      ("Thu, 01 Jan 1970 00:00:00 GMT", nil), ("Sunday, 06-Nov-94 08:51:07 GMT", 90), ("Sun Nov  6 08:51:07 1994", 90),
      ("Sun, 36 Nov 1994 08:51:07 GMT", nil), ("Sun, 06 Nov 1994", nil), ("1994-11-06T08:51:07Z", nil),
      ("Sun, 06 Nov 1994 08:51:07 +0100", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
      ("Sun, 06 Nov 1994 8:51:07 GMT", nil), ("Sun, 06 Foo 1994 08:51:07 GMT", nil),
      ("Sun, -6 Nov 1994 08:51:07 GMT", nil),
    ] as [(String, Int?)])
  func dates(_ value: String, _ expected: Int?) {
    let headers = ["Retry-After": value, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
    #expect(HTTPReply(status: 503, headers: headers).retryAfter == expected.map { .seconds($0) })
  }

  @Test(
    arguments: [
      ("Wed, 28 Feb 1996 23:59:50 GMT", "Thu, 29 Feb 1996 00:00:00 GMT", 10),
      ("Thu, 29 Feb 1996 23:59:50 GMT", "Fri, 01 Mar 1996 00:00:00 GMT", 10),
      ("Sun, 28 Feb 1999 23:59:50 GMT", "Mon, 01 Mar 1999 00:00:00 GMT", 10),
      ("Tue, 31 Dec 2024 23:59:50 GMT", "Wed, 01 Jan 2025 00:00:00 GMT", 10),
      ("Sun, 28 Feb 1999 00:00:00 GMT", "Mon, 29 Feb 1999 00:00:00 GMT", nil),
    ] as [(String, String, Int?)])
  func theCalendarIsRight(_ now: String, _ date: String, _ expected: Int?) {
    let reply = HTTPReply(status: 503, headers: ["Retry-After": date, "Date": now])
    #expect(reply.retryAfter == expected.map { .seconds($0) })
  }

  @Test(arguments: [nil, "", "yesterday"])
  func aDateWithoutTheServersOwnIsIgnored(_ date: String?) {
    let reply = HTTPReply(
      status: 503,
      headers: ["Retry-After": "Sun, 06 Nov 2094 08:49:37 GMT"].merging(date.map { ["Date": $0] } ?? [:]) { $1 })
    #expect(reply.retryAfter == nil)
    #expect(HTTPReply(status: 503).retryAfter == nil)
  }
}
