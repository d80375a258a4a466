/// Something that a cache has done on its own, or has met; nothing of it is an error of the caller.
public enum CacheEvent: Sendable, Hashable {
  /// Why an entry is gone.
  public enum Cause: Sendable, Hashable {
    /// Its time was over.
    case expired
    /// There were more entries than `countLimit`.
    case count
    /// They cost more than `costLimit`.
    case cost
    /// The disk has less room than `freeDiskSpaceLimit`.
    case freeSpace
  }

  /// An entry is gone.
  case evicted(key: String, Cause)
  /// The bytes of an entry were not those that were written; it counts as missing, and the next write removes it.
  case damagedEntry(key: String)
  /// The content could not be trusted or read when the cache was opened. It was moved to `path`, and the cache is empty.
  case setAside(path: String, reason: String)
  /// Somebody has removed the directory while the cache was open, or moved it away; a write has made it anew, and the
  /// cache is empty.
  case externallyRemoved(path: String)
  /// The file was rewritten without its free space; sizes in bytes.
  case compacted(from: Int, to: Int)
  /// A subscript could not read or write, or a loaded value could not be stored.
  case accessFailed(key: String, StoreError)
  /// Work in the background failed; it is tried again after the next write.
  case maintenanceFailed(StoreError)
}
