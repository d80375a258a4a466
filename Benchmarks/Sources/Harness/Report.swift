public import Foundation

/// What a run of the benchmarks found.
public struct Report: Codable, Sendable {
  /// The machine it ran on.
  public var machine: Machine
  /// Its rows, in the order in which they were measured.
  public var rows: [Row]

  /// Makes a report.
  public init(machine: Machine, rows: [Row]) {
    self.machine = machine
    self.rows = rows
  }

  /// Reads a report from its JSON.
  ///
  /// - Parameter json: What ``json`` wrote.
  /// - Throws: `DecodingError` if it is no report.
  public init(json: Data) throws { self = try JSONDecoder().decode(Report.self, from: json) }

  /// The report as JSON; rows without a bar have neither `bar` nor `met`.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }
}
