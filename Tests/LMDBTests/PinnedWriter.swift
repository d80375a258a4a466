import Dispatch
import LMDB

/// A write transaction that another thread holds until it is let go.
final class PinnedWriter: Sendable {
  private let leave = DispatchSemaphore(value: 0)
  private let thread: TestThread

  init(_ environment: Environment) {
    let entered = DispatchSemaphore(value: 0)
    let leave = leave
    thread = TestThread {
      try environment.write { _ in
        entered.signal()
        leave.wait()
      }
    }
    entered.wait()
  }

  func release() throws {
    leave.signal()
    try thread.join()
  }
}
