import LMDB

/// Where a memory cache releases values that were replaced, removed or evicted; never under a lock.
public enum ValueRelease: Sendable, Hashable {
  /// On the thread that has replaced, removed or evicted them, before it goes on.
  case inline
  /// By a task of low priority; worth it if the end of a value takes long.
  case background
  /// On the main actor, for values that may end only there.
  case mainActor
}

extension MemoryCache {
  /// Lets go of entries, where ``valueRelease`` says.
  @usableFromInline
  func release(_ garbage: consuming [MemoryShard<Key, Value>.Entry]) {
    guard valueRelease != .inline else { return }
    // The task takes the values out of a box, so that the last reference to them is its own.
    let box = Guarded(garbage.compactMap(\.value))
    garbage = []
    if valueRelease == .background {
      Task.detached(priority: .background) { _ = box.takeAll() }
    } else {
      Task { @MainActor in _ = box.takeAll() }
    }
  }
}

extension Guarded {
  fileprivate func takeAll<Value>() -> [Value] where State == [Value] {
    update { values in
      defer { values = [] }
      return values
    }
  }
}
