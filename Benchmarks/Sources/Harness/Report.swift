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
  /// - Throws: `DecodingError` if it is no report, or has a row whose quartiles are in no order.
  public init(json: Data) throws {
    self = try JSONDecoder().decode(Report.self, from: json)
    for row in rows where !(row.q25 <= row.q75) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "the quartiles of \(row.identity) are in no order"))
    }
  }

  /// The report as JSON; rows without a bar have neither `bar` nor `met`.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }
}
