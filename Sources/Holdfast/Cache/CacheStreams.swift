import LMDB
import Synchronization

/// Hands elements to whoever listens, each as far as it asked for.
final class CacheStreams<Element: Sendable>: Sendable {
  private struct Listener {
    let accepts: @Sendable (Element) -> Bool
    let continuation: AsyncStream<Element>.Continuation
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var lastID = 0
    /// What happened before anybody listened.
    var early: [Element] = []
  }

  private let state = Monitor(State())
  private let earlyLimit: Int
  private let count = Atomic(0)

  /// - Parameter earlyLimit: How many elements from before are kept for the first listener.
  init(earlyLimit: Int = 0) { self.earlyLimit = earlyLimit }

  deinit {
    for listener in state.update({ Array($0.listeners.values) }) { listener.continuation.finish() }
  }

  /// Whether anybody listens; costs one load.
  var isHeard: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  /// A stream of what happens from now on, for the first one also of what happened last; a listener that is slow loses
  /// the oldest of more than 1,024 elements.
  func stream(where accepts: @escaping @Sendable (Element) -> Bool = { _ in true }) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1024))
    let (id, early) = state.update { state in
      state.lastID += 1
      state.listeners[state.lastID] = Listener(accepts: accepts, continuation: continuation)
      count.store(state.listeners.count, ordering: .sequentiallyConsistent)
      defer { state.early = [] }
      return (state.lastID, state.early)
    }
    for element in early where accepts(element) { continuation.yield(element) }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    return stream
  }

  /// - Returns: How many elements pushed out an older one that was not yet read.
  @discardableResult
  func send(_ elements: [Element]) -> Int {
    if elements.isEmpty { return 0 }
    let listeners = state.update { [earlyLimit] state in
      if state.lastID == 0, earlyLimit > 0 { state.early = Array((state.early + elements).suffix(earlyLimit)) }
      return Array(state.listeners.values)
    }
    var dropped = 0
    for listener in listeners {
      for element in elements where listener.accepts(element) {
        if case .dropped = listener.continuation.yield(element) { dropped += 1 }
      }
    }
    return dropped
  }

  private func remove(_ id: Int) {
    state.update { state in
      state.listeners[id] = nil
      count.store(state.listeners.count, ordering: .sequentiallyConsistent)
    }
  }
}
