import Foundation
import Harness
import HitRatio
import Peers

/// The command behind tools/bench and tools/bench-compare.
@main
struct Main {
  static func main() {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.contains("--help") || arguments.contains("-h") {
        return print(arguments.first == "hitratio" ? HitRatioCommand.usage : Arguments.usage)
      }
      if arguments.first == "compare" { return try compare(Array(arguments.dropFirst())) }
      if arguments.first == "hitratio" { return try HitRatioCommand.run(Array(arguments.dropFirst())) }
      if arguments.first == "memory-of" { return try MemoryUse.measure(Array(arguments.dropFirst())) }
      if arguments.first == "mix-of" { return try MixWorker.work(Array(arguments.dropFirst())) }
      try run(try Arguments(arguments))
    } catch {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) throws {
    let command = (["tools/bench"] + CommandLine.arguments.dropFirst()).joined(separator: " ")
    let machine = Machine(engines: Engine.versions, command: command)
    let bench = Bench(effort: arguments.isQuick ? .quick : .full, directory: arguments.directory)
    bench.filter = arguments.filter
    try arguments.checkDestinations()
    try bench.removeLeftovers()
    defer { try? FileManager.default.removeItem(atPath: bench.runFolder) }
    let interruptions = Interruptions(removing: bench.runFolder)
    defer { withExtendedLifetime(interruptions) {} }
    bench.onRow = { print($0.line) }
    for suite in arguments.suites {
      bench.suite = suite.name
      print("\n\(suite.name)")
      let (wall, cpu) = (Clock.wall.now, Clock.process.now)
      try suite.run(bench)
      let seconds = { (clock: Clock, begin: UInt64) in (Double(clock.now - begin) / 1e9).short }
      print("  in \(seconds(.wall, wall)) s, \(seconds(.process, cpu)) s of CPU time")
    }
    // Such as for a name of a quick run in a full one: 50k records there are 1M here.
    if bench.rows.isEmpty, let filter = arguments.filter {
      throw UsageError("no workload of these suites has \"\(filter)\" in its name")
    }
    let report = Report(machine: machine, rows: bench.rows)
    let missed = report.rows.filter { $0.met == false }
    print("\n\(report.rows.count) rows, \(report.rows.filter { $0.met == true }.count) bars met, \(missed.count) not:")
    for row in missed { print(row.line) }
    var files: [(path: String, content: Data)] = []
    if let path = arguments.json { files.append((path, try report.json)) }
    if let path = arguments.markdown { files.append((path, Data(report.markdown.utf8))) }
    if let folder = arguments.charts {
      files += report.suites.map { ("\(folder)/\($0).svg", Data(report.chart(of: $0).utf8)) }
    }
    // One that cannot be written does not take the others along.
    let failures = files.compactMap { file -> String? in
      do {
        try file.content.write(to: URL(filePath: file.path))
        return nil
      } catch {
        return "\(file.path) cannot be written: \(error.localizedDescription)"
      }
    }
    if !failures.isEmpty { throw UsageError(failures.joined(separator: "\n")) }
  }

  private static func compare(_ paths: [String]) throws {
    guard paths.count == 2 else { throw UsageError("compare needs two reports: tools/bench-compare A.json B.json") }
    let reports = try paths.map { path in
      do {
        return try Report(json: Data(contentsOf: URL(filePath: path)))
      } catch {
        throw UsageError("\(path) cannot be read as a report of tools/bench --json: \(error.localizedDescription)")
      }
    }
    let comparison = ReportComparison(reports[0], reports[1])
    print(comparison.text, terminator: "")
    if !comparison.agrees || comparison.pairs.isEmpty { exit(1) }
  }
}

extension Row {
  /// A line for the terminal.
  fileprivate var line: String {
    let bar = bar.map { "  bar \($0.short) \(met == true ? "met" : "NOT MET")" } ?? ""
    let figures = "\(ours.short) : \(theirs.short) \(unit)"
    return
      "  \(ratio.short) [\(q25.short), \(q75.short)] \(verdict.rawValue)  \(name) (\(durability.rawValue)) : \(peer)  "
      + figures + bar
  }
}
