import LMDB

/// Hands events to whoever listens.
final class CacheEvents: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<CacheEvent>.Continuation] = [:]
    var lastID = 0
    /// What happened before anybody listened.
    var early: [CacheEvent] = []
  }

  private let state = Monitor(State())

  deinit {
    for listener in state.update({ Array($0.listeners.values) }) { listener.finish() }
  }

  /// A stream of what happens from now on, for the first one also of what happened last; a listener that is slow loses
  /// the oldest of more than 1,024 events.
  func stream() -> AsyncStream<CacheEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: CacheEvent.self, bufferingPolicy: .bufferingNewest(1024))
    let (id, early) = state.update { state in
      state.lastID += 1
      state.listeners[state.lastID] = continuation
      defer { state.early = [] }
      return (state.lastID, state.early)
    }
    for event in early { continuation.yield(event) }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    return stream
  }

  /// - Returns: How many events pushed out an older one that was not yet read.
  @discardableResult
  func send(_ events: [CacheEvent]) -> Int {
    if events.isEmpty { return 0 }
    let listeners = state.update { state in
      if state.lastID == 0 { state.early = Array((state.early + events).suffix(16)) }
      return Array(state.listeners.values)
    }
    var dropped = 0
    for listener in listeners {
      for event in events {
        if case .dropped = listener.yield(event) { dropped += 1 }
      }
    }
    return dropped
  }

  private func remove(_ id: Int) {
    _ = state.update { $0.listeners.removeValue(forKey: id) }
  }
}
