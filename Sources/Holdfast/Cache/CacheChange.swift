/// A change of what a disk cache holds, made through this process; see ``DiskCache/changes(ofKey:)``.
public enum CacheChange: Sendable, Hashable {
  /// A value was stored, whether there was one before or not.
  case stored(key: String)
  /// An entry was removed because somebody asked for that.
  case removed(key: String)
  /// An entry had to leave.
  case evicted(key: String, CacheEvent.Cause)
  /// An entry was removed because its bytes were not those that were written.
  case damaged(key: String)
  /// Everything was removed.
  case removedAll

  /// The key that has changed; `nil` is every key.
  var key: String? {
    switch self {
    case .stored(let key), .removed(let key), .evicted(let key, _), .damaged(let key): key
    case .removedAll: nil
    }
  }
}
