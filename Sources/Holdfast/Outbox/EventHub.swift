import LMDB
import Synchronization

/// Hands events to whoever listens in this process. Nobody waits for a slow listener, and each is told what it missed.
final class EventHub: Sendable {
  private struct Listener {
    let continuation: AsyncStream<OutboxEvent>.Continuation
    var missed = 0

    mutating func offer(_ event: OutboxEvent) {
      if missed > 0 {
        guard case .enqueued = continuation.yield(.lagged(missed: missed)) else {
          missed += 1
          return
        }
        missed = 0
      }
      if case .dropped = continuation.yield(event) { missed += 1 }
    }
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var next = 0
  }

  private let state = Monitor(State())
  /// So that an event that nobody listens to takes no lock.
  private let count = Atomic(0)

  func publish(_ event: OutboxEvent) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    state.update { state in
      // A continuation takes the event or not; it runs nobody's code.
      for id in state.listeners.keys { state.listeners[id]?.offer(event) }
    }
  }

  func events(buffering limit: Int) -> AsyncStream<OutboxEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: OutboxEvent.self, bufferingPolicy: .bufferingOldest(max(1, limit)))
    let id = state.update { state in
      state.next += 1
      state.listeners[state.next] = Listener(continuation: continuation)
      count.store(state.listeners.count, ordering: .sequentiallyConsistent)
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      state.update { state in
        state.listeners[id] = nil
        count.store(state.listeners.count, ordering: .sequentiallyConsistent)
      }
    }
    return stream
  }
}

extension Outbox {
  /// What happens from now on through this ``Store`` and others of its path in this process.
  ///
  /// Each event comes after its commit. Nobody waits for a slow reader: when it has `limit` events unread, further ones
  /// are left out, and ``OutboxEvent/lagged(missed:)`` stands where they would have been. What must not miss anything,
  /// or hear of other processes, reads the journal.
  ///
  /// - Parameter limit: How many unread events are kept.
  /// - Returns: A stream that ends with the task that reads it.
  public func events(buffering limit: Int = 256) -> AsyncStream<OutboxEvent> { board.hub.events(buffering: limit) }
}
