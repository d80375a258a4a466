// A value outlives the transaction that read it.
// expected: lifetime-dependent variable 'kept' escapes its scope
import LMDB

func misuse(_ environment: Environment, _ database: Database) throws {
  var kept = Span<UInt8>()
  try environment.read { t in
    if let value = try t.value(forKey: "key", in: database) { kept = value }
  }
  print(kept.count)
}
