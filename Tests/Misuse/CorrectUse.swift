// What the other files get wrong, done right: this one must compile, or the suite proves nothing.
import LMDB

func use(_ environment: Environment, _ database: Database) throws -> Int {
  try environment.write { t in
    let length = try t.value(forKey: "key", in: database)?.count ?? 0
    try t.set([UInt8](repeating: 1, count: length + 1), forKey: "key", in: database)
  }
  return try environment.read { t in
    var total = 0
    var cursor = try t.cursor(in: database)
    while try cursor.next() { total += cursor.value.count }
    return total
  }
}
