import Foundation
import Synchronization

/// Runs a body on some threads at once and adds up what they return.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> UInt64) throws -> UInt64 {
  let done = DispatchSemaphore(value: 0)
  let results = Results()
  for index in 0..<count {
    let thread = Thread {
      results.add(Result { try body(index) })
      done.signal()
    }
    thread.start()
  }
  for _ in 0..<count { done.wait() }
  return try results.sum()
}

/// Runs a body in some tasks at once, on the cooperative pool, and adds up what they return; blocks this thread.
func inTasks(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> UInt64) throws -> UInt64 {
  let done = DispatchSemaphore(value: 0)
  let results = Results()
  for index in 0..<count {
    Task.detached {
      do { results.add(.success(try await body(index))) } catch { results.add(.failure(error)) }
      done.signal()
    }
  }
  for _ in 0..<count { done.wait() }
  return try results.sum()
}

private final class Results: Sendable {
  private let state = Mutex<Result<UInt64, any Error>>(.success(0))

  func add(_ result: Result<UInt64, any Error>) {
    state.withLock { state in
      if case .success(let sum) = state { state = result.map { sum &+ $0 } }
    }
  }

  func sum() throws -> UInt64 { try state.withLock { $0 }.get() }
}
