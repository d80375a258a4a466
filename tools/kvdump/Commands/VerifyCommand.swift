import Holdfast
import LMDBFile

/// `verify PATH`: checks every page, and lists what is wrong.
struct VerifyCommand: Command {
  static let help = Help(
    "verify", "PATH", "checks every page of a file, and lists all that is wrong",
    details: """
      Errors mean that records are lost or cannot be trusted: the exit code is 1. Warnings do not. Keys that are out of
      order nearly everywhere are a warning, since a program may compare them in its own way.
      """,
    options: [
      .init("--quick", "only the meta pages, the size and the main database"),
      .init(
        "--deep", "also every record of a Holdfast store, as `state verify`, `outbox verify` and `cache verify` do"),
      .init("--strict", "a warning is an error too: exit code 2"),
      .init("--ignore-order", "do not compare keys"),
      .init("--json", "one line of JSON for each problem, and one for the whole"),
    ] + Help.reading,
    example: "kvdump verify .build/quickstart/store")

  private let reading: Reading
  private let isQuick: Bool
  private let isDeep: Bool
  private let isStrict: Bool
  private let ignoresOrder: Bool
  private let asJSON: Bool

  init(_ arguments: inout Arguments) throws(Failure) {
    reading = try Reading(&arguments)
    isQuick = arguments.has("--quick")
    isDeep = arguments.has("--deep")
    isStrict = arguments.has("--strict")
    ignoresOrder = arguments.has("--ignore-order")
    asJSON = arguments.has("--json")
    if isDeep && (isQuick || asJSON) {
      throw Failure(.usage, "--deep goes with neither --quick nor --json; leave out one of them")
    }
  }

  func run(_ context: Context) throws(Failure) {
    var names: Set<String> = []
    var answer: Failure?
    try context.read(Reading(reading, readable: true)) { (snapshot) throws(Failure) in
      var verifier = Verifier(snapshot, checksOrder: !ignoresOrder)
      let report = try reading.naming { () throws(ReadError) in try verifier.run(isQuick: isQuick) }
      try write(report, to: &context.output)
      names = Set(report.databases.map(\.tree.title))
      answer =
        report.count(.error) > 0
        ? Failure(.negativeAnswer, "") : isStrict && report.count(.warning) > 0 ? Failure(.warnings, "") : nil
    }
    for check in isDeep ? checks(of: names) : [] {
      do throws(Failure) {
        try check.run(context)
      } catch {
        // What it says is in the output, unless it could not be done.
        if error.kind != .negativeAnswer { throw error }
        answer = error
      }
    }
    if let answer { throw answer }
  }

  /// The checks of a store with these databases.
  private func checks(of names: Set<String>) -> [any Command] {
    let reading = Reading(reading, readable: true)
    let all: [(String, any Command)] = [
      ("state.record", StateVerifyCommand(reading)), ("outbox.entry", OutboxVerifyCommand(reading)),
      ("cache.entry", CacheVerifyCommand(reading)),
    ]
    return all.filter { names.contains($0.0) }.map(\.1)
  }

  private func write(_ report: Verifier.Report, to output: inout Output) throws(Failure) {
    let (errors, warnings) = (report.count(.error), report.count(.warning))
    if asJSON {
      for problem in report.problems { try output.line(json(problem)) }
      return try output.line("{\"errors\":\(errors),\"warnings\":\(warnings),\"pages\":\(report.pagesChecked)}")
    }
    for problem in report.problems {
      let place = [problem.page.map { "page \($0)" }, problem.database.map { printable($0) }].compactMap { $0 }
      let severity = output.style(problem.severity.rawValue.padded(to: 7), Self.style(of: problem.severity))
      let prefix = place.isEmpty ? "" : place.joined(separator: ", ") + ": "
      try output.line("\(severity)  \(prefix)\(printable(problem.message))")
    }
    if report.unlisted > 0 { try output.line("and \(report.unlisted) more") }
    try output.line(
      "\(count(errors, "error")), \(count(warnings, "warning")), \(count(report.pagesChecked, "page")) checked")
  }

  private static func style(of severity: Problem.Severity) -> Style {
    switch severity {
    case .error: .red
    case .warning: .yellow
    case .hint: .cyan
    }
  }

  private func json(_ problem: Problem) -> String {
    let page = problem.page.map { "\($0)" } ?? "null"
    let database = problem.database.map(JSONText.quoted) ?? "null"
    return "{\"severity\":\"\(problem.severity.rawValue)\",\"page\":\(page),\"db\":\(database),"
      + "\"message\":\(JSONText.quoted(problem.message))}"
  }
}
