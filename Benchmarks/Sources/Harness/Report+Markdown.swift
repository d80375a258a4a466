import Foundation

extension Report {
  /// The rows as Markdown tables, one a suite.
  public var markdown: String {
    var text = "\(machine.processors) × \(machine.processor), \(machine.system), load \(machine.load) at the start"
    text += ", \(machine.date)\n`\(machine.command)`\n"
    for suite in suites {
      text += "\n### \(suite)\n\n"
      text += "| workload | durability | peer | Holdfast | peer's | unit | ratio [q25, q75] | bar | met |\n"
      text += "|---|---|---|--:|--:|---|--:|--:|---|\n"
      for row in rows where row.suite == suite { text += row.markdown + "\n" }
    }
    return text
  }

  /// The suites of the report, in order.
  public var suites: [String] {
    rows.reduce(into: []) { if !$0.contains($1.suite) { $0.append($1.suite) } }
  }
}

extension Row {
  /// A line of a Markdown table.
  public var markdown: String {
    let bar = bar.map { $0.short } ?? ""
    let met = met.map { $0 ? "yes" : "**no**" } ?? ""
    return "| \(name) | \(durability.rawValue) | \(peer) | \(ours.short) | \(theirs.short) | \(unit) "
      + "| \(ratio.short) [\(q25.short), \(q75.short)] | \(bar) | \(met) |"
  }
}

extension Double {
  /// Three significant digits, without an exponent.
  public var short: String {
    guard isFinite else { return "–" }
    let digits = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 0.1 || self == 0 ? 2 : 4
    return String(format: "%.\(digits)f", self)
  }
}
