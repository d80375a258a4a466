/// What is known of the changes to the keys of one stripe.
@usableFromInline
struct VersionStripe: Sendable {
  /// Goes up with every change.
  @usableFromInline var version: UInt64 = 0
  /// How many changes have begun and not ended.
  @usableFromInline var pending: UInt32 = 0

  /// How many stripes a shard has.
  @usableFromInline static let count = 64

  @inlinable
  init() {}

  /// The stripe of a hash.
  @inlinable
  static func index(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> 48) & 63 }
}

/// Which state of a key was seen; see ``MemoryCache/version(forKey:)``.
public struct MemoryCacheVersion: Sendable, Hashable {
  @usableFromInline let number: UInt64

  @inlinable
  init(_ number: UInt64) { self.number = number }
}
