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
      let pageSize = try environment.information().pageSize
      let rows = try environment.databaseStatistics().map { database in
        let pages = database.branchPages + database.leafPages + database.overflowPages
        return [
          printable(database.name), "\(database.entries)", "\(database.depth)", "\(pages)", size(pages * pageSize),
        ]
      }
      output.table([["DATABASE", "ENTRIES", "DEPTH", "PAGES", "SIZE"]] + rows, right: [1, 2, 3, 4])
    } catch {
      throw Failure(error)
    }
  }
}
