import Harness

/// A set of workloads about one part.
struct Suite: Sendable {
  let name: String
  let run: @Sendable (Bench) throws -> Void

  static let all = [
    Suite(name: "engine", run: { try engineSuite($0) }),
    Suite(name: "state", run: { try stateSuite($0) }),
    Suite(name: "outbox", run: { try outboxSuite($0) }),
    Suite(name: "cache", run: { try cacheSuite($0) }),
    Suite(name: "kvdump", run: { try kvdumpSuite($0) }),
    Suite(name: "open", run: { try openSuite($0) }),
    Suite(name: "memory", run: { try memorySuite($0) }),
    Suite(name: "size", run: { try sizeSuite($0) }),
    Suite(name: "scale", run: { try scaleSuite($0) }),
  ]
}
