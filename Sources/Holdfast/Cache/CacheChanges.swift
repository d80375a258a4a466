import LMDB
import Synchronization

/// Hands the changes of a cache to those who watch some of its keys.
final class CacheChanges: Sendable {
  /// The keys that somebody watches.
  enum Interest: Sendable {
    case key(String)
    case prefix(String)

    func includes(_ change: CacheChange) -> Bool {
      guard let key = change.key else { return true }
      return switch self {
      case .key(let mine): key.hasSameBytes(as: mine)
      case .prefix(let prefix): key.utf8.starts(with: prefix.utf8)
      }
    }
  }

  private struct Watcher {
    let interest: Interest
    let continuation: AsyncStream<CacheChange>.Continuation
  }

  private struct State {
    var watchers: [Int: Watcher] = [:]
    var lastID = 0
  }

  private let state = Monitor(State())
  private let count = Atomic(0)

  deinit {
    for watcher in state.update({ Array($0.watchers.values) }) { watcher.continuation.finish() }
  }

  /// Whether anybody watches; a write that begins after somebody does notes what it changes.
  var isWatched: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  func stream(of interest: Interest) -> AsyncStream<CacheChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: CacheChange.self, bufferingPolicy: .bufferingNewest(1024))
    let id = state.update { state in
      state.lastID += 1
      state.watchers[state.lastID] = Watcher(interest: interest, continuation: continuation)
      count.store(state.watchers.count, ordering: .sequentiallyConsistent)
      return state.lastID
    }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    return stream
  }

  /// - Returns: How many changes pushed out an older one that was not yet read.
  func send(_ changes: [CacheChange]) -> Int {
    if changes.isEmpty { return 0 }
    var dropped = 0
    for watcher in state.update({ Array($0.watchers.values) }) {
      for change in changes where watcher.interest.includes(change) {
        if case .dropped = watcher.continuation.yield(change) { dropped += 1 }
      }
    }
    return dropped
  }

  private func remove(_ id: Int) {
    state.update { state in
      state.watchers[id] = nil
      count.store(state.watchers.count, ordering: .sequentiallyConsistent)
    }
  }
}
