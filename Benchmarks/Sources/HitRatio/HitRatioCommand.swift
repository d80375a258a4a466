import Foundation
import Harness

/// `tools/bench hitratio`: the hit ratios of the memory cache, as it is, for recorded traces.
public enum HitRatioCommand {
  /// How it is called.
  public static let usage = """
    usage: tools/bench hitratio TRACE[@SIZE,…]… [--bytes] [--runs N] [--json FILE]
    TRACE has a key a line, or a key and a size; .lis files are ARC's; .gz files are unpacked. SIZE is a number of keys,
    by default 1, 5, 10 and 20 % of the different ones. With --bytes it is a number of bytes (by default the same parts of
    all keys' bytes), and so are the hits. --runs is how often the adaptive policy runs, each time with other hashes (3).
    """

  /// Runs the command.
  ///
  /// - Parameter arguments: What follows `hitratio`.
  /// - Throws: A sentence about what is wrong with them, or with a trace.
  public static func run(_ arguments: [String]) throws {
    var rest = arguments[...]
    var traces: [String] = []
    var json: String?
    var weighted = false
    var runs = 3
    while let argument = rest.popFirst() {
      switch argument {
      case "--bytes": weighted = true
      case "--json":
        guard let path = rest.popFirst(), !path.hasPrefix("--") else {
          throw HitRatioError("--json needs a file\n\(usage)")
        }
        json = path
      case "--runs":
        guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
          throw HitRatioError("--runs needs a number\n\(usage)")
        }
        runs = number
      case let option where option.hasPrefix("--"): throw HitRatioError("there is no option \(option)\n\(usage)")
      default: traces.append(argument)
      }
    }
    guard !traces.isEmpty else { throw HitRatioError(usage) }
    if let json { try Destination.check(json) }
    print(HitRatioRow.heading)
    var rows: [HitRatioRow] = []
    for text in traces { rows += try measure(text, weighted: weighted, runs: runs) }
    let mean = rows.reduce(0) { $0 + $1.adaptive / max($1.optimum, 0.01) } / Double(rows.count)
    let worst = rows.map { $0.lru - $0.adaptiveLeast }.max() ?? 0
    print("\(rows.count) points: adaptive / optimum \((mean * 1000).rounded() / 1000) in the mean;")
    print("at worst \((worst * 100).rounded() / 100) points below LRU")
    if let json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(rows).write(to: URL(filePath: json))
    }
  }

  private static func measure(_ text: String, weighted: Bool, runs: Int) throws -> [HitRatioRow] {
    // The last @, and only where a size could follow: a folder may have one in its name.
    var parts = [text]
    if let at = text.lastIndex(of: "@"), !text[at...].contains("/") {
      parts = [String(text[..<at]), String(text[text.index(after: at)...])]
    }
    guard !parts[0].isEmpty, parts.last != "" else {
      throw HitRatioError("\"\(text)\" names no trace, or no size\n\(usage)")
    }
    let trace = try Trace(path: parts[0])
    guard !weighted || !trace.sizes.isEmpty else { throw HitRatioError("\(parts[0]): --bytes needs sizes") }
    var all = trace.uniqueCount
    if weighted {
      var sizes: [Int: Int] = [:]
      for (key, size) in zip(trace.keys, trace.sizes) { sizes[key] = size }
      all = sizes.values.reduce(0, +)
    }
    var sizes = [1, 5, 10, 20].map { max(1, all * $0 / 100) }
    if parts.count == 2 {
      sizes = try parts[1].split(separator: ",").map { size in
        guard let number = Int(size), number > 0 else { throw HitRatioError("\(size) is no size\n\(usage)") }
        return number
      }
    }
    let file = URL(filePath: parts[0]).lastPathComponent
    let name = file.replacing(".gz", with: "").replacing(".txt", with: "")
    return sizes.map { size in
      let row = HitRatioRow(name, trace, size: size, weighted: weighted, runs: runs)
      print(row.line)
      return row
    }
  }
}
