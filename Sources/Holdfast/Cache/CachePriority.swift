/// Which entries leave first when the disk half of a cache is full.
public enum CachePriority: UInt8, Sendable, Hashable, CaseIterable {
  /// Before all others.
  case low = 0
  /// In the order of their last use.
  case normal = 1
  /// After all normal ones.
  case high = 2
  /// Never for want of room. Its cost counts, it still expires, and all pinned entries together may take half of each
  /// limit; one beyond that is rejected.
  case pinned = 3
}
