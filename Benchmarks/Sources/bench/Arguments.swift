import Foundation
import Harness

/// What the command was asked to do.
struct Arguments {
  var suites: [Suite] = []
  var isQuick = false
  var json: String?
  var markdown: String?
  var charts: String?
  var filter: String?
  /// Where stores are made; a file system in memory would make flushes free.
  var directory = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/stores"

  static let usage = """
    usage: tools/bench [SUITE…] [--quick] [--json FILE] [--md FILE] [--svg DIRECTORY] [--directory DIRECTORY] [--only TEXT]
    suites: \(Suite.all.map(\.name).joined(separator: ", ")); all of them if none is named
    --only runs the workloads whose names contain TEXT, such as for a profile
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("--") else {
        throw UsageError("\(option) needs a value\n\(Self.usage)")
      }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick": isQuick = true
      case "--json": json = try value(of: argument)
      case "--md": markdown = try value(of: argument)
      case "--only": filter = try value(of: argument)
      case "--svg": charts = try value(of: argument)
      case "--directory": directory = try value(of: argument)
      default:
        guard let suite = Suite.all.first(where: { $0.name == argument }) else {
          throw UsageError("there is no suite or option \(argument)\n\(Self.usage)")
        }
        suites.append(suite)
      }
    }
    if suites.isEmpty { suites = Suite.all }
  }

  /// Finds out before the run, which may take an hour, whether its results can be written.
  func checkDestinations() throws {
    for path in [json, markdown].compactMap({ $0 }) { try Destination.check(path) }
    if let charts {
      do {
        try FileManager.default.createDirectory(atPath: charts, withIntermediateDirectories: true)
      } catch { throw UsageError("\(charts) cannot be made: \(error.localizedDescription)") }
      guard FileManager.default.isWritableFile(atPath: charts) else {
        throw UsageError("\(charts) cannot be written to")
      }
    }
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch { throw UsageError("--directory \(directory) cannot be made: \(error.localizedDescription)") }
    guard FileManager.default.isWritableFile(atPath: directory) else {
      throw UsageError("--directory \(directory) cannot be written to")
    }
  }
}

/// What is wrong with a command line.
struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
