import Synchronization

/// A decoded value in the memory half of a ``Cache``, with what tells whether it is still the one on disk.
public final class CachedObject<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  let record: DiskCacheRecord
  /// The last commit in which the entry on disk was seen to be this one.
  let commit: Atomic<Int>

  init(_ value: Value, _ record: DiskCacheRecord, commit: Int) {
    self.value = value
    self.record = record
    self.commit = Atomic(commit)
  }

  /// Whether it is fresh; what is not may be given out while it is loaded anew.
  func isFresh(at now: Int64) -> Bool { record.freshUntil == 0 || now < record.freshUntil }
}
