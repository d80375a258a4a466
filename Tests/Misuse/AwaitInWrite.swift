// A write transaction is held across a suspension, after which another thread may go on with it.
// expected: cannot pass function of type '(inout WriteTransaction) async throws -> ()'
import LMDB

func pause() async {}

func misuse(_ environment: Environment) throws {
  try environment.write { t in
    await pause()
    try t.set([1], forKey: "key", in: environment.database("d"))
  }
}
