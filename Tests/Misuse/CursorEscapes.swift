// A cursor outlives the transaction that it walks.
// expected: lifetime-dependent value escapes its scope
import LMDB

func misuse(_ environment: Environment, _ database: Database) throws {
  var steps: [() throws -> Bool] = []
  try environment.read { t in
    var cursor = try t.cursor(in: database)
    steps.append { try cursor.next() }
  }
  for step in steps { print(try step()) }
}
