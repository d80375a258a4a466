import Foundation
import Harness
import Testing

struct ReportTests {
  private func row(_ name: String, _ ratio: Double, spread: Double = 0.02, bar: Double? = nil) -> Row {
    var quartiles = Quartiles(exactly: ratio)
    quartiles.q25 = ratio * (1 - spread)
    quartiles.q75 = ratio * (1 + spread)
    return Row(
      suite: "engine", name: name, durability: .powerLossSafe, peer: "SQLite", ours: 1, theirs: ratio, unit: "ns",
      ratio: quartiles, bar: bar)
  }

  private func report(_ rows: [Row]) -> Report {
    Report(machine: Machine(engines: ["sqlite": "3"], command: "test"), rows: rows)
  }

  @Test("The JSON has the keys it promises, and a bar only where there is one")
  func json() throws {
    let report = report([row("get", 2, bar: 1.5), row("put", 0.5)])
    let object = try #require(try JSONSerialization.jsonObject(with: report.json) as? [String: Any])
    let rows = try #require(object["rows"] as? [[String: Any]])
    #expect(Set(object.keys) == ["machine", "rows"])
    let keys: Set = ["suite", "name", "durability", "peer", "ours", "theirs", "unit", "ratio", "q25", "q75"]
    #expect(Set(rows[0].keys) == keys.union(["bar", "met"]))
    #expect(Set(rows[1].keys) == keys)
    #expect(rows[0]["met"] as? Bool == true)
    #expect(try Report(json: report.json).rows == report.rows)
  }

  @Test("A bar is met when the ratio reaches it")
  func bars() {
    #expect(row("get", 0.97, bar: 0.97).met == true)
    #expect(row("get", 0.96, bar: 0.97).met == false)
    #expect(row("get", 0.96).met == nil)
  }

  @Test(
    "Two runs contradict each other only beyond the dead band",
    arguments: [(2.0, 2.5, true), (1.04, 1.08, true), (1.0, 1.3, false), (0.8, 1.3, false), (0.88, 0.95, true)])
  func agreement(_ first: Double, _ second: Double, _ agrees: Bool) {
    let comparison = ReportComparison(report([row("get", first)]), report([row("get", second)]))
    #expect(comparison.pairs.count == 1)
    #expect(comparison.agrees == agrees)
  }

  @Test("Rows that only one report has are named")
  func unmatched() {
    let comparison = ReportComparison(report([row("get", 1), row("put", 1)]), report([row("get", 1), row("scan", 1)]))
    #expect(comparison.pairs.map(\.first.name) == ["get"])
    #expect(comparison.unmatched == ["engine · put · SQLite", "engine · scan · SQLite"])
  }

  @Test("A noisy row is wide, and so contradicts less")
  func noise() {
    #expect(row("get", 1.2, spread: 0.3).allowedVerdicts == [.even, .ahead, .behind])
    #expect(row("get", 1.2, spread: 0.01).allowedVerdicts == [.ahead])
  }

  @Test("The chart is XML, and has a bar for each row")
  func chart() throws {
    let svg = report([row("a < b & c", 2), row("put", 0.01), row("scan", 400)]).chart(of: "engine")
    #expect(svg.contains("a &lt; b &amp; c, beside SQLite"))
    #expect(svg.contains("prefers-color-scheme: dark"))
    #expect(svg.split(separator: "<rect").count == 4)
    let barred = report([row("get", 2, bar: 1.5), row("put", 2)]).chart(of: "engine")
    #expect(barred.split(separator: "<rect").count == 2 && barred.contains("class=\"bar\""))
  }

  @Test("Labels are not cut off: the page grows to the left")
  func longLabels() {
    let name = String(repeating: "a very long name ", count: 6)
    #expect(report([row("get", 2)]).chart(of: "engine").contains("viewBox=\"0 0 1000 "))
    let length = "\(name), beside SQLite".count
    #expect(report([row(name, 2)]).chart(of: "engine").contains("viewBox=\"-\(length * 7 - 450) 0 "))
  }

  @Test("Rows of different classes of durability are not the same measurement")
  func classes() {
    var other = row("get", 1)
    other.durability = .processCrashSafe
    #expect(!ReportComparison(report([row("get", 1)]), report([other])).agrees)
  }

  @Test("A row whose quartiles are in no order is no row")
  func order() throws {
    var wrong = row("get", 1)
    swap(&wrong.q25, &wrong.q75)
    let json = try report([wrong]).json
    #expect(throws: DecodingError.self) { try Report(json: json) }
  }

  @Test("Numbers are short")
  func numbers() {
    #expect(
      [0.01234, 0.5, 1.0, 12.34, 123.4, 56789].map(\.short) == ["0.0123", "0.50", "1.00", "12.3", "123", "56789"])
  }
}
