/// A contiguous range of keys, compared byte by byte as unsigned numbers; a key sorts after its own prefixes.
public struct KeyRange: Sendable, Hashable {
  /// Where a range starts or ends.
  public enum Bound: Sendable, Hashable {
    /// The range has no end on this side.
    case unbounded
    /// The range holds this key.
    case included([UInt8])
    /// The range stops short of this key.
    case excluded([UInt8])
  }

  /// The lower end.
  public var lower: Bound
  /// The upper end.
  public var upper: Bound

  /// Makes a range from its two ends; it is empty if they cross.
  public init(lower: Bound = .unbounded, upper: Bound = .unbounded) {
    self.lower = lower
    self.upper = upper
  }

  /// Every key.
  public static let all = KeyRange()

  /// The keys that start with `bytes`; an empty prefix is every key.
  public static func prefix(_ bytes: [UInt8]) -> KeyRange {
    guard let last = bytes.lastIndex(where: { $0 != 0xFF }) else {
      return KeyRange(lower: bytes.isEmpty ? .unbounded : .included(bytes))
    }
    var end = Array(bytes[...last])
    end[last] += 1
    return KeyRange(lower: .included(bytes), upper: .excluded(end))
  }

  /// The keys that start with the UTF-8 bytes of `text`.
  public static func prefix(_ text: String) -> KeyRange { prefix(Array(text.utf8)) }

  /// The keys at or after `lower` and before `upper`.
  public static func range(_ lower: [UInt8], upTo upper: [UInt8]) -> KeyRange {
    KeyRange(lower: .included(lower), upper: .excluded(upper))
  }

  /// The keys at or after the UTF-8 bytes of `lower` and before those of `upper`.
  public static func range(_ lower: String, upTo upper: String) -> KeyRange {
    range(Array(lower.utf8), upTo: Array(upper.utf8))
  }

  /// Whether a key is not above the upper end.
  func admits(belowUpper key: Span<UInt8>) -> Bool {
    switch upper {
    case .unbounded: true
    case .included(let end): key.compare(end.span) <= 0
    case .excluded(let end): key.compare(end.span) < 0
    }
  }

  /// Whether a key is not below the lower end.
  func admits(aboveLower key: Span<UInt8>) -> Bool {
    switch lower {
    case .unbounded: true
    case .included(let start): key.compare(start.span) >= 0
    case .excluded(let start): key.compare(start.span) > 0
    }
  }
}
