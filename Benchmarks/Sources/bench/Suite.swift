import Harness

/// A set of workloads about one part.
struct Suite: Sendable {
  let name: String
  let run: @Sendable (Bench) throws -> Void

  static let all = [
    Suite(name: "engine", run: { try engineSuite($0) })
  ]
}
