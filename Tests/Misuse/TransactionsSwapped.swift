// Two environments commit each other's transaction.
// expected: requires that 'WriteTransaction' conform to 'Escapable'
import LMDB

func misuse(_ first: Environment, _ second: Environment) throws {
  try first.write { a in
    try second.write { b in
      swap(&a, &b)
    }
  }
}
