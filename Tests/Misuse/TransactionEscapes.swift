// A transaction outlives its closure.
// expected: 't' is borrowed and cannot be consumed
import LMDB

func misuse(_ environment: Environment) throws {
  var kept: [() -> Void] = []
  try environment.read { t in
    let escaped = t
    kept.append { _ = escaped }
  }
  for use in kept { use() }
}
