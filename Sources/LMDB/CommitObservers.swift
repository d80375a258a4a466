import Synchronization

/// Those in this process who want to hear of an environment's commits.
final class CommitObservers: Sendable {
  private struct State {
    var observers: [(id: Int, action: @Sendable (Int) -> Void)] = []
    var lastID = 0
  }

  private let state = Monitor(State())
  /// So that a commit that nobody waits for takes no lock.
  private let count = Atomic(0)

  func add(_ action: @escaping @Sendable (Int) -> Void) -> Int {
    state.update { state in
      state.lastID += 1
      state.observers.append((state.lastID, action))
      count.store(state.observers.count, ordering: .sequentiallyConsistent)
      return state.lastID
    }
  }

  func remove(_ id: Int) {
    state.update { state in
      state.observers.removeAll { $0.id == id }
      count.store(state.observers.count, ordering: .sequentiallyConsistent)
    }
  }

  /// Calls everybody, in the order in which they came; the caller holds no lock.
  func notify(_ transactionID: Int) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    for observer in state.update({ $0.observers }) { observer.action(transactionID) }
  }
}

/// Keeps an observer of commits; when it goes away, the observer is not called any more.
package final class CommitObservation: Sendable {
  private let observers: CommitObservers
  private let id: Int

  init(_ observers: CommitObservers, _ action: @escaping @Sendable (Int) -> Void) {
    self.observers = observers
    id = observers.add(action)
  }

  deinit { observers.remove(id) }
}
