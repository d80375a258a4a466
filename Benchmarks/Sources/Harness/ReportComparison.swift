/// Whether two reports of the same benchmarks say the same.
public struct ReportComparison: Sendable {
  /// A row that both reports have.
  public struct Pair: Sendable {
    /// The row of the first.
    public let first: Row
    /// The row of the second.
    public let second: Row

    /// Whether some verdict fits both measurements; those of different classes of durability are none of the same thing.
    public var agrees: Bool {
      first.durability == second.durability && !first.allowedVerdicts.isDisjoint(with: second.allowedVerdicts)
    }
    /// Whether one report has met the bar and the other has not.
    public var barChanged: Bool { first.met != second.met }
  }

  /// The rows that both have.
  public let pairs: [Pair]
  /// What only one of them has.
  public let unmatched: [String]

  /// Compares two reports row by row.
  ///
  /// - Parameters:
  ///   - first: A report.
  ///   - second: Another one.
  public init(_ first: Report, _ second: Report) {
    let theirs = Dictionary(second.rows.map { ($0.identity, $0) }, uniquingKeysWith: { $1 })
    let ours = Set(first.rows.map(\.identity))
    pairs = first.rows.compactMap { row in theirs[row.identity].map { Pair(first: row, second: $0) } }
    unmatched =
      first.rows.map(\.identity).filter { theirs[$0] == nil }
      + second.rows.map(\.identity).filter { !ours.contains($0) }
  }

  /// Whether no verdict of one contradicts the other.
  public var agrees: Bool { pairs.allSatisfy(\.agrees) }

  /// The verdicts side by side, those that disagree last, and a count.
  public var text: String {
    var lines =
      pairs.filter(\.agrees).map { line($0, "agree") } + pairs.filter { !$0.agrees }.map { line($0, "DISAGREE") }
    lines += pairs.filter(\.barChanged).map {
      "bar   \($0.first.identity): \($0.first.ratio.short) and \($0.second.ratio.short), asked for \($0.first.bar?.short ?? "")"
    }
    lines += unmatched.map { "only in one   \($0)" }
    let wrong = pairs.filter { !$0.agrees }.count
    return lines.joined(separator: "\n")
      + "\n\(pairs.count) rows, \(wrong) verdicts disagree, \(pairs.filter(\.barChanged).count) bars met in one only\n"
  }

  private func line(_ pair: Pair, _ word: String) -> String {
    "\(word)   \(pair.first.verdict.rawValue) \(pair.first.ratio.short) / \(pair.second.verdict.rawValue) "
      + "\(pair.second.ratio.short)   \(pair.first.identity)"
  }
}
