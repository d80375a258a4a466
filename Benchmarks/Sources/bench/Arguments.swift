import Foundation

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
      guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value\n\(Self.usage)") }
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
}

/// What is wrong with a command line.
struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
