import Foundation
import Holdfast
import LMDBFile

/// A report as one page of HTML, without scripts and without anything from elsewhere.
struct ReportPage {
  private let report: Report

  init(_ report: Report) { self.report = report }

  var html: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="generator" content="kvdump \(KVDump.version)">
    <title>\(escape(report.path))</title>
    <style>\(Self.style)</style>
    </head>
    <body>
    <header>
    <h1>\(escape(report.path))</h1>
    <p>\(escape(report.snapshot.layout.description)) · commit \(report.snapshot.meta.transactionID) · \(timestamp(report.now))</p>
    </header>
    <main>
    \(tiles)
    \(space)
    \(databases)
    \(backlog)
    \(cache)
    \(histograms)
    </main>
    </body>
    </html>

    """
  }

  private func escape(_ text: String) -> String {
    printable(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }

  private func grouped(_ number: Int) -> String {
    var digits = Array(String(number))
    var index = digits.count - 3
    while index > 0 {
      digits.insert("\u{202F}", at: index)
      index -= 3
    }
    return String(digits)
  }

  private func percent(_ part: Int, of whole: Int) -> String {
    whole == 0 ? "0 %" : String(format: "%.1f %%", Double(part) * 100 / Double(whole))
  }

  private func section(_ title: String, _ id: String, _ body: String) -> String {
    "<section id=\"\(id)\"><h2>\(title)</h2>\(body)</section>"
  }

  // MARK: Sizes

  private var tiles: String {
    let pageSize = report.snapshot.layout.pageSize
    let records = report.databases.dropFirst().reduce(report.databases[0].tree.entries - report.databases.count + 1) {
      $0 + $1.tree.entries
    }
    let facts = [
      ("File", size(report.fileSize), "\(size(report.allocated)) on disk"),
      ("Databases", "\(report.databases.count - 1)", "named, besides the main one"),
      ("Records", grouped(records), "in all databases"),
      ("Free", size(report.freePages * pageSize), "\(grouped(report.freePages)) pages to be used again"),
    ]
    let tiles = facts.map { title, value, note in
      "<div class=\"tile\"><h3>\(title)</h3><p class=\"value\">\(value)</p><p class=\"note\">\(note)</p></div>"
    }
    return "<div class=\"tiles\">\(tiles.joined())</div>"
  }

  /// Where the pages of the file are: the largest databases, the others, free pages, and what is left.
  private var space: String {
    let pageSize = report.snapshot.layout.pageSize
    let total = report.snapshot.meta.lastPage + 1
    let sorted = report.databases.filter { $0.pages > 0 }.sorted { $0.pages > $1.pages }
    var parts = sorted.prefix(6).enumerated().map { (escape($1.tree.title), $1.pages, "c\($0)") }
    let others = sorted.dropFirst(6).reduce(0) { $0 + $1.pages }
    if others > 0 { parts.append(("other databases", others, "c6")) }
    if report.freePages > 0 { parts.append(("free", report.freePages, "free")) }
    let rest = total - parts.reduce(0) { $0 + $1.1 }
    if rest > 0 { parts.append(("meta pages, free list", rest, "meta")) }
    let bar = parts.map { title, pages, kind in
      "<span class=\"\(kind)\" style=\"flex-grow:\(pages)\" title=\"\(title): \(size(pages * pageSize))\"></span>"
    }
    let legend = parts.map { title, pages, kind in
      "<li><i class=\"\(kind)\"></i>\(title) <b>\(size(pages * pageSize))</b> \(percent(pages, of: total))</li>"
    }
    return section(
      "Space", "space", "<div class=\"stack\">\(bar.joined())</div><ul class=\"legend\">\(legend.joined())</ul>")
  }

  private var databases: String {
    let pageSize = report.snapshot.layout.pageSize
    let rows = report.databases.map { database in
      let tree = database.tree
      let flags = DumpWriter.flags.filter { tree.flags.contains($0.0) }.map(\.1).joined(separator: ", ")
      let cells = [
        grouped(tree.entries), "\(tree.depth)", grouped(database.pages), size(database.pages * pageSize),
        size(database.keys.total + database.values.total),
      ]
      return "<tr><th scope=\"row\">\(escape(tree.title))</th><td class=\"text\">\(flags)</td>"
        + cells.map { "<td>\($0)</td>" }.joined() + "</tr>"
    }
    let head = ["Database", "Flags", "Records", "Depth", "Pages", "Size", "Content"].map {
      "<th scope=\"col\">\($0)</th>"
    }
    return section(
      "Databases", "databases",
      "<div class=\"scroll\"><table><thead><tr>\(head.joined())</tr></thead><tbody>\(rows.joined())</tbody></table></div>"
    )
  }

  // MARK: Stores

  private var backlog: String {
    guard let backlog = report.backlog else { return "" }
    let rows = OutboxReader.states.map { state in (state, backlog.ages[state]?.counts ?? AgeBuckets().counts) }
    let errors = backlog.errors.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(8).map { reason, count in
      "<li><b>\(grouped(count))</b> \(escape(printable(reason, limit: 160)))</li>"
    }
    let list = errors.isEmpty ? "" : "<h3>Last errors</h3><ul class=\"errors\">\(errors.joined())</ul>"
    return section(
      "Outbox", "outbox",
      "<p>\(grouped(backlog.total)) entries, \(size(backlog.bytes)) of payload; by state and age:</p>"
        + matrix(rows.map { ($0.0, $0.1) }) + list)
  }

  private var cache: String {
    guard let cache = report.cache else { return "" }
    let rows = CachePriority.allCases.map { ("\($0)", cache.ages[$0]?.counts ?? AgeBuckets().counts) }
    return section(
      "Cache", "cache",
      "<p>\(grouped(cache.sizes.count)) entries, \(size(cache.sizes.total)); \(grouped(cache.inFiles)) in files, "
        + "\(grouped(cache.expired)) expired; by priority and age:</p>" + matrix(rows)
        + "<h3>Values by size</h3>" + bars(cache.sizes))
  }

  /// Counts by age, each cell the darker the more there are.
  private func matrix(_ rows: [(String, [Int])]) -> String {
    let most = max(1, rows.flatMap(\.1).max() ?? 1)
    let head = [""] + AgeBuckets.titles.map { $0.lowercased() }
    let body = rows.map { title, counts in
      "<tr><th scope=\"row\">\(escape(title))</th>"
        + counts.map { count in
          let share = count == 0 ? 0 : 12 + count * 43 / most
          return "<td class=\"heat\" style=\"--share:\(share)%\">\(grouped(count))</td>"
        }.joined() + "</tr>"
    }
    return "<div class=\"scroll\"><table class=\"matrix\"><thead><tr>"
      + head.map { "<th scope=\"col\">\(escape($0))</th>" }.joined()
      + "</tr></thead><tbody>\(body.joined())</tbody></table></div>"
  }

  // MARK: Histograms

  private var histograms: String {
    let shown = report.databases.filter { $0.values.count > 0 }.sorted { $0.pages > $1.pages }.prefix(12)
    let cards = shown.map { database in
      "<div class=\"card\"><h3>\(escape(database.tree.title))</h3><h4>Keys</h4>\(bars(database.keys))"
        + "<h4>Values</h4>\(bars(database.values))</div>"
    }
    return section("Sizes of keys and values", "sizes", "<div class=\"cards\">\(cards.joined())</div>")
  }

  private func bars(_ histogram: Histogram) -> String {
    let most = max(1, histogram.rows.map(\.count).max() ?? 1)
    let rows = histogram.rows.map { range, count in
      "<div class=\"row\"><span>\(size(range.lowerBound))</span><span class=\"track\"><i style=\"width:"
        + String(format: "%.1f", Double(count) * 100 / Double(most))
        + "%\"></i></span><span>\(grouped(count))</span></div>"
    }
    let marks = [0.5, 0.9, 0.99].map { "p\(Int($0 * 100)) \(size(histogram.percentile($0)))" }
    return "<div class=\"bars\">\(rows.joined())</div><p class=\"note\">"
      + (marks + ["largest \(size(histogram.maximum))"]).joined(separator: " · ") + "</p>"
  }

  private static let style = """
    :root{color-scheme:light dark;--back:#f6f6f4;--card:#fff;--text:#1c1c1e;--soft:#6b6b70;--line:#dcdcd8;--mark:#2f6fb0;
    --c0:#2f6fb0;--c1:#4a9c8c;--c2:#c98b2b;--c3:#8a62ab;--c4:#b5544d;--c5:#6f8f3a;--c6:#8d8d92;--free:#d5dfe8;--meta:#b9b9b4}
    @media(prefers-color-scheme:dark){:root{--back:#161618;--card:#1f1f22;--text:#ececee;--soft:#9a9aa0;--line:#35353a;
    --mark:#6aa6e0;--c0:#6aa6e0;--c1:#6cc0af;--c2:#e0ab55;--c3:#b392d0;--c4:#dc8179;--c5:#9cbb68;--c6:#85858b;--free:#2d3a46;--meta:#4a4a50}}
    *{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif;
    font-variant-numeric:tabular-nums}header,main{max-width:72rem;margin:0 auto;padding:0 1.25rem}header{padding-top:2rem}
    h1{font-size:1.35rem;margin:0;overflow-wrap:anywhere}header p,.note{color:var(--soft);margin:.25rem 0 0}
    h2{font-size:1.05rem;margin:0 0 .75rem}h3{font-size:.95rem;margin:1rem 0 .5rem;overflow-wrap:anywhere}h4{font-size:.8rem;font-weight:600;
    color:var(--soft);margin:.75rem 0 .25rem}section,.tile,.card{background:var(--card);border:1px solid var(--line);
    border-radius:.6rem;padding:1rem 1.25rem}section{margin:1.25rem 0}.tiles{display:grid;gap:1rem;margin-top:1.25rem;
    grid-template-columns:repeat(auto-fit,minmax(12rem,1fr))}.tile h3{margin:0;color:var(--soft);font-weight:500}
    .tile .value{font-size:1.6rem;margin:0;font-weight:600}.note{font-size:.85rem}.stack{display:flex;height:1.75rem;
    border-radius:.4rem;overflow:hidden;gap:2px}.stack span{min-width:3px}.legend{list-style:none;display:flex;flex-wrap:wrap;
    gap:.35rem 1.25rem;padding:0;margin:.75rem 0 0;font-size:.9rem}.legend i{display:inline-block;width:.75rem;height:.75rem;
    border-radius:.2rem;margin-right:.4rem;vertical-align:-1px}.c0{background:var(--c0)}.c1{background:var(--c1)}
    .c2{background:var(--c2)}.c3{background:var(--c3)}.c4{background:var(--c4)}.c5{background:var(--c5)}.c6{background:var(--c6)}
    .free{background:var(--free)}.meta{background:var(--meta)}.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;
    font-size:.9rem}th,td{padding:.35rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
    th[scope=row],thead th:first-child,td.text,thead th:nth-child(2):not(.matrix *){text-align:left}thead th{color:var(--soft);font-weight:500}
    th[scope=row]{font-weight:500}.heat{background:color-mix(in srgb,var(--mark) var(--share),transparent)}
    .cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr))}.card{padding:.75rem 1rem}.card h3{margin:0}
    section .card{background:none}.row{display:grid;grid-template-columns:5rem 1fr 5rem;gap:.5rem;align-items:center;font-size:.8rem}
    .row span{text-align:right}.track{display:block;height:.7rem;background:color-mix(in srgb,var(--line) 45%,transparent);border-radius:.2rem}
    .track i{display:block;height:100%;background:var(--mark);border-radius:.2rem}.errors{padding-left:1.1rem;margin:0;
    overflow-wrap:anywhere}
    """
}
