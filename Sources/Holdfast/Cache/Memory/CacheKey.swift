import LMDB

/// A text as the key of a memory cache that is equal only to the same bytes.
///
/// Two `String`s are equal if they look alike, as `é` in one character and `é` with a combining accent do; under these
/// keys they are two, as in the disk cache.
public struct CacheKey: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text.
  public let text: String

  /// The key of a text.
  public init(_ text: String) { self.text = text }

  /// The key of a literal.
  public init(stringLiteral text: String) { self.text = text }

  /// Whether the bytes in UTF-8 are the same.
  public static func == (a: CacheKey, b: CacheKey) -> Bool { a.text.hasSameBytes(as: b.text) }

  /// Hashes the text; those that only look alike have the same hash.
  public func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }

  /// The text.
  public var description: String { text }
}
