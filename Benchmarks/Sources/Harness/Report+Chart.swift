import Foundation

extension Report {
  /// A chart of a suite's ratios: bars on a logarithmic scale, with quartiles.
  ///
  /// Shows the rows with a bar, and where it lies; of a suite that has none, all rows. Its colours are legible on light and on dark, and follow the reader's preference.
  ///
  /// - Parameter suite: The suite.
  /// - Returns: An SVG document.
  public func chart(of suite: String) -> String {
    let all = rows.filter { $0.suite == suite && $0.ratio > 0 && $0.ratio.isFinite }
    let rows = all.contains { $0.bar != nil } ? all.filter { $0.bar != nil } : all
    let edges = rows.flatMap { [$0.q25, $0.q75] } + rows.compactMap(\.bar)
    let low = edges.reduce(1, min), high = edges.reduce(1, max)
    // Labels end at the left of the bars and begin where the page does, seven units a character at most.
    let margin = max(0, (rows.map(\.label.count).max() ?? 0) * 7 - 450)
    let scale = ChartScale(from: min(0.5, low), to: max(2, high))
    let height = 70 + rows.count * 22
    var svg = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="\(-margin) 0 \(1000 + margin) \(height)" width="\(1000 + margin)" height="\(height)" \
      font-family="system-ui, sans-serif" font-size="12" role="img">
      <title>\(suite): Holdfast beside its peers</title>
      <style>
      text { fill: #24292f } .axis { stroke: #8c959f } .one { stroke: #24292f; stroke-width: 1.5 }
      .ahead { fill: #2da44e } .even { fill: #8c959f } .behind { fill: #cf6a2b } .spread { stroke: #24292f } .bar { stroke: #0969da; stroke-width: 2 }
      @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 } .axis { stroke: #6e7681 } .one, .spread { stroke: #e6edf3 }
        .bar { stroke: #58a6ff } .ahead { fill: #3fb950 } .behind { fill: #f0883e }
      }
      </style>
      <text x="10" y="20" font-size="15">\(suite): how many times as good as the peer (logarithmic; right of 1: \
      Holdfast is better; thin: quartiles; blue: asked for)</text>

      """
    for tick in scale.ticks {
      let x = scale.x(tick)
      svg += "<line class=\"\(tick == 1 ? "one" : "axis")\" x1=\"\(x.short)\" x2=\"\(x.short)\" y1=\"48\" "
      svg += "y2=\"\(height - 14)\"/><text x=\"\(x.short)\" y=\"42\" text-anchor=\"middle\">\(tick.plain)</text>\n"
    }
    for (index, row) in rows.enumerated() { svg += row.bar(at: 56 + index * 22, scale) }
    return svg + "</svg>\n"
  }
}

/// Where a ratio lies on the page.
private struct ChartScale {
  static let left = 470.0, right = 940.0
  let low: Double, high: Double

  init(from low: Double, to high: Double) {
    self.low = log2(low)
    self.high = log2(high)
  }

  func x(_ ratio: Double) -> Double {
    Self.left + (log2(ratio) - low) / (high - low) * (Self.right - Self.left)
  }

  /// Powers of two, or of four or sixteen where there are many.
  var ticks: [Double] {
    let step = high - low > 16 ? 4.0 : high - low > 8 ? 2 : 1
    return stride(from: (low / step).rounded(.up) * step, through: high, by: step).map { exp2($0) }
  }
}

extension Row {
  fileprivate var label: String { "\(name), beside \(peer)" }

  fileprivate func bar(at y: Int, _ scale: ChartScale) -> String {
    let (one, end) = (scale.x(1), scale.x(ratio))
    let (low, high) = (scale.x(q25).short, scale.x(q75).short)
    let label = label.escapedForXML
    let bar = bar.map { scale.x($0).short }
    let mark = bar.map { "<line class=\"bar\" x1=\"\($0)\" x2=\"\($0)\" y1=\"\(y)\" y2=\"\(y + 17)\"/>" } ?? ""
    return """
      <text x="460" y="\(y + 12)" text-anchor="end">\(label)</text>\
      <rect class="\(verdict.rawValue)" x="\(min(one, end).short)" y="\(y + 2)" width="\(abs(end - one).short)" height="13"/>\
      <line class="spread" x1="\(low)" x2="\(high)" y1="\(y + 8)" y2="\(y + 8)"/>\(mark)\
      <text x="945" y="\(y + 12)">\(ratio.short)</text>

      """
  }
}

extension Double {
  /// As short as possible, for an axis.
  fileprivate var plain: String { self >= 1 ? String(format: "%.0f", self) : "1/" + String(format: "%.0f", 1 / self) }
}

extension String {
  fileprivate var escapedForXML: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
