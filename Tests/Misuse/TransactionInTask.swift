// A transaction is captured by a task, which may run on another thread after the commit.
// expected: escaping closure captures 'inout' parameter 't'
import LMDB

func misuse(_ environment: Environment, _ database: Database) throws {
  try environment.write { t in
    Task { try t.set([1], forKey: "key", in: database) }
  }
}
