// A value is used after the cursor has gone on.
// expected: overlapping accesses to 'cursor'
import LMDB

func misuse(_ environment: Environment, _ database: Database) throws -> Int {
  try environment.read { t in
    var cursor = try t.cursor(in: database)
    let value = cursor.value
    _ = try cursor.next()
    return value.count
  }
}
