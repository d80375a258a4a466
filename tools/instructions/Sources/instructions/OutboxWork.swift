import Dispatch
import Holdfast
import Synchronization

/// Entries in lanes of their own, 256 a commit; outbox.c writes the same rows with liblmdb alone.
///
/// The modes are `enqueue`, and `deliver`, which takes and acknowledges them too, 256 at a time.
func outboxWork(_ mode: String, _ operations: Int, at path: String) throws -> Int {
  let store = try Store.open(at: path)
  let payload = [UInt8](repeating: 7, count: 200)
  var sum = 0
  for first in stride(from: 0, to: operations, by: 256) {
    try store.write { transaction in
      for number in first..<min(first + 256, operations) {
        try store.outbox.enqueue(
          OutboxRequest(kind: "comment", lane: "post:\(number)", payload: payload), in: &transaction)
      }
    }
    if mode == "deliver" {
      sum += try wait {
        try await store.outbox.drain(with: Taker(), options: .init(goal: .idle, concurrency: 256)).delivered
      }
    }
  }
  return sum
}

/// A sender for whom everything has arrived at once.
private struct Taker: OutboxSender {
  func send(_ entry: OutboxEntry) async throws -> SendOutcome { .delivered(reply: []) }
}

/// Runs a task, and blocks until it is done. (An asynchronous `main` ends the main thread, with which valgrind cannot cope.)
private func wait(for body: sending @escaping () async throws -> Int) throws -> Int {
  let isDone = DispatchSemaphore(value: 0)
  let result = Mutex<Result<Int, any Error>>(.success(0))
  let task = Task { try await body() }
  Task {
    let value = await task.result
    result.withLock { $0 = value }
    isDone.signal()
  }
  isDone.wait()
  return try result.withLock { try $0.get() }
}
