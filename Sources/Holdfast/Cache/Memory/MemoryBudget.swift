#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How much memory a cache may take if nobody says otherwise.
public enum MemoryBudget {
  /// 15 % of the memory that this process may use (the machine's, or the limit of its cgroup), at most 256 MB; in bytes.
  public static let automatic: Int = {
    var bytes = ProcessInfo.processInfo.physicalMemory
    for path in ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"] {
      if let data = FileManager.default.contents(atPath: path),
        let limit = UInt64(String(decoding: data, as: UTF8.self).filter(\.isNumber))
      {
        bytes = min(bytes, limit)
      }
    }
    return Int(min(bytes / 100 * 15, 256_000_000))
  }()

  /// About what an entry takes in bytes, without what its key and its value point to.
  @inlinable
  public static func entryCost<Key, Value>(_ key: Key.Type, _ value: Value.Type) -> Int {
    MemoryLayout<Key>.stride + MemoryLayout<Value>.stride + 64
  }
}

/// A value that knows how much memory it takes.
public protocol MemoryCost {
  /// The bytes that it takes, with what it points to; not negative, and not to be computed at length.
  var memoryCost: Int { get }
}

extension Array: MemoryCost where Element == UInt8 {
  /// The number of bytes.
  public var memoryCost: Int { count }
}

extension String: MemoryCost {
  /// The number of bytes in UTF-8.
  public var memoryCost: Int { utf8.count }
}

extension Data: MemoryCost {
  /// The number of bytes.
  public var memoryCost: Int { count }
}

extension MemoryCache where Value: MemoryCost {
  /// Stores a value that knows its cost, in place of the one that is there.
  ///
  /// - Parameters:
  ///   - value: The value; its cost is ``MemoryCost/memoryCost`` and that of an entry.
  ///   - key: Its key.
  ///   - lifetime: How long it stays; 0 or less is not at all.
  ///   - idleLimit: How long it stays without being asked for.
  ///   - isPinned: Whether it stays when others have to leave.
  /// - Returns: Whether it is there; as for ``setObject(_:forKey:cost:lifetime:idleLimit:isPinned:)``.
  @discardableResult
  @inlinable
  public func setObject(
    _ value: Value, forKey key: Key, lifetime: Duration? = nil, idleLimit: Duration? = nil, isPinned: Bool = false
  ) -> Bool {
    setObject(
      value, forKey: key, cost: value.memoryCost + MemoryBudget.entryCost(Key.self, Value.self), lifetime: lifetime,
      idleLimit: idleLimit, isPinned: isPinned)
  }

  /// The value of a key; `nil` as a new value removes it.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { object(forKey: key) }
    set {
      if let newValue { setObject(newValue, forKey: key) } else { removeObject(forKey: key) }
    }
  }
}
