import LMDB

/// `ls PATH`: the databases of an environment.
struct ListCommand {
  private let path: String

  init(_ arguments: inout Arguments) throws(Failure) {
    path = try arguments.path()
    try arguments.end()
  }

  func run(_ output: inout Output) throws(Failure) {
    do {
      let environment = try openEnvironment(at: path)
      let pageSize = try environment.info().pageSize
      let rows = try environment.databaseStatistics().map { name, sizes in
        [
          printable(name), "\(sizes.entries)", "\(sizes.depth)", "\(sizes.pages)", size(sizes.pages * pageSize),
        ]
      }
      output.table([["DATABASE", "ENTRIES", "DEPTH", "PAGES", "SIZE"]] + rows, right: [1, 2, 3, 4])
    } catch {
      throw Failure(error)
    }
  }
}
