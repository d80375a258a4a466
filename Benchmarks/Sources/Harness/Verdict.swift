/// Who is better, said only where the difference is more than noise.
public enum Verdict: String, Sendable, CaseIterable {
  /// Holdfast is better.
  case ahead
  /// No difference that matters.
  case even
  /// The peer is better.
  case behind

  /// Ratios between 1/edge and edge are even.
  static let edge = 1.1

  /// The verdict on a ratio.
  ///
  /// - Parameter ratio: Above 1, Holdfast is better.
  public init(_ ratio: Double) {
    self = ratio > Self.edge ? .ahead : ratio < 1 / Self.edge ? .behind : .even
  }
}

extension Row {
  /// The verdict on the median.
  public var verdict: Verdict { Verdict(ratio) }

  /// The verdicts that the measurement allows: those of every ratio between the quartiles, widened by 5 %. A row near
  /// an edge has two, which is the dead band: another run may fall on the other side without contradicting it.
  public var allowedVerdicts: Set<Verdict> {
    let all: [Verdict] = [.behind, .even, .ahead]
    let rank = { (ratio: Double) in all.firstIndex(of: Verdict(ratio)) ?? 0 }
    return Set(all[rank(q25 / 1.05)...rank(q75 * 1.05)])
  }
}
