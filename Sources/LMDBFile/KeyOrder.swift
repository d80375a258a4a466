/// How a database compares its keys, or its duplicates.
package enum KeyOrder: Sendable, Hashable {
  /// Byte by byte from the front; a prefix comes first.
  case bytes
  /// Byte by byte from the end.
  case reversed
  /// As unsigned numbers of the machine that made the file.
  case integers(isBigEndian: Bool)

  /// The order of a database's keys.
  package static func keys(of flags: Tree.Flags, _ layout: Layout) -> KeyOrder {
    if flags.contains(.integerKey) { return .integers(isBigEndian: layout.isBigEndian) }
    return flags.contains(.reverseKey) ? .reversed : .bytes
  }

  /// The order of the values under one key.
  package static func duplicates(of flags: Tree.Flags, _ layout: Layout) -> KeyOrder {
    if flags.contains(.integerDuplicates) { return .integers(isBigEndian: layout.isBigEndian) }
    return flags.contains(.reverseDuplicates) ? .reversed : .bytes
  }

  /// Compares two keys: below, at or above zero; `nil` if the order does not say, as for integers of two sizes.
  package func compare(_ a: borrowing Span<UInt8>, _ b: borrowing Span<UInt8>) -> Int? {
    switch self {
    case .bytes: return Self.compareForward(a, b)
    case .reversed: return Self.compareBackward(a, b)
    case .integers(let isBigEndian):
      guard a.count == b.count else { return nil }
      return isBigEndian ? Self.compareForward(a, b) : Self.compareBackward(a, b)
    }
  }

  private static func compareForward(_ a: borrowing Span<UInt8>, _ b: borrowing Span<UInt8>) -> Int {
    let common = min(a.count, b.count)
    var index = 0
    while index < common {
      let (left, right) = (a[index], b[index])
      if left != right { return left < right ? -1 : 1 }
      index += 1
    }
    return a.count - b.count
  }

  private static func compareBackward(_ a: borrowing Span<UInt8>, _ b: borrowing Span<UInt8>) -> Int {
    let common = min(a.count, b.count)
    var index = 1
    while index <= common {
      let (left, right) = (a[a.count - index], b[b.count - index])
      if left != right { return left < right ? -1 : 1 }
      index += 1
    }
    return a.count - b.count
  }
}
