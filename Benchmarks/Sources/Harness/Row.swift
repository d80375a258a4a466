/// One comparison of a report: Holdfast beside a peer, doing the same work.
public struct Row: Codable, Sendable, Hashable {
  /// Which suite measured it.
  public var suite: String
  /// The workload.
  public var name: String
  /// What survives what, for both.
  public var durability: Durability
  /// The other side: an engine, Holdfast in another way, or a limit.
  public var peer: String
  /// Our median, in ``unit``.
  public var ours: Double
  /// The peer's median, in ``unit``.
  public var theirs: Double
  /// What ``ours`` and ``theirs`` count.
  public var unit: String
  /// The median of the ratios of paired slices; above 1, Holdfast is better.
  public var ratio: Double
  /// The lower quartile of those ratios.
  public var q25: Double
  /// The upper quartile of those ratios.
  public var q75: Double
  /// The ratio asked for, where there is one.
  public var bar: Double?
  /// Whether ``ratio`` reaches ``bar``.
  public var met: Bool?

  /// Makes a row; whether a bar is met follows from the ratio.
  public init(
    suite: String, name: String, durability: Durability, peer: String, ours: Double, theirs: Double, unit: String,
    ratio: Quartiles, bar: Double?
  ) {
    self.suite = suite
    self.name = name
    self.durability = durability
    self.peer = peer
    self.ours = ours
    self.theirs = theirs
    self.unit = unit
    self.ratio = ratio.median
    q25 = ratio.q25
    q75 = ratio.q75
    self.bar = bar
    met = bar.map { ratio.median >= $0 }
  }

  /// What says which row of another report is the same.
  public var identity: String { "\(suite) · \(name) · \(peer)" }
}
