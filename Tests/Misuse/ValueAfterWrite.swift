// A value that was read in a write transaction is used after the next change.
// expected: overlapping accesses to 't'
import LMDB

func misuse(_ environment: Environment, _ database: Database) throws {
  try environment.write { t in
    let value = try t.value(forKey: "key", in: database)
    try t.set([1], forKey: "key", in: database)
    print(value?.count ?? 0)
  }
}
