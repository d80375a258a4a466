// The transaction is changed while a cursor walks it.
// expected: overlapping accesses to 't'
import LMDB

func misuse(_ environment: Environment, _ database: Database) throws {
  try environment.write { t in
    var cursor = try t.cursor(in: database)
    while try cursor.next() {
      try t.removeValue(forKey: cursor.key, in: database)
    }
  }
}
