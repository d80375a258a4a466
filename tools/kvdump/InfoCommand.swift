import LMDB

/// `info PATH`: sizes, pages and readers of an environment.
struct InfoCommand {
  private let path: String

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    try arguments.end()
  }

  func run(_ output: inout Output) throws(Failure) {
    do {
      let environment = try openEnvironment(at: path)
      let information = try environment.info()
      let names = try environment.databaseNames()
      let isStore = names.contains("state.record") && names.contains("outbox.entry")
      output.line("\(environment.path)/data.mdb: LMDB 0.9, page \(information.pageSize)")
      output.table([
        ["  commit", "\(information.lastTransactionID)"],
        ["  size", "\(size(information.usedPages * information.pageSize)), \(information.usedPages) pages"],
        ["  free", "\(size(information.freePages * information.pageSize)), \(information.freePages) pages"],
        ["  map", size(information.mapSize)],
        ["  readers", "\(information.readers.count), the oldest \(information.oldestReaderLag) commits behind"],
        ["  databases", "\(names.count)"],
        ["  contents", isStore ? "a Holdfast store: state and outbox" : "not a Holdfast store"],
      ])
    } catch {
      throw Failure(error)
    }
  }
}

/// Opens any environment for reading, whatever its databases.
func openEnvironment(at path: String) throws -> Environment {
  try Environment.open(at: path, databases: [], options: Environment.Options(mode: .readOnly))
}
