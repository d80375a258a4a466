/// In which order rows that lie side by side are removed.
enum RemovalOrder {
  /// Places from 0: five of seven, and then the others.
  ///
  /// From front to back, LMDB would fill a page that is three quarters empty from the next, a row for each that is
  /// removed. Pages that are all just above a quarter are put together instead.
  static func scattered(_ count: Int) -> [Int] {
    // Fewer are of one page or two.
    if count < 16 { return Array(0..<count) }
    return (0..<count).filter { !isLast($0) } + (0..<count).filter { isLast($0) }
  }

  /// Whether a place is among those that come last.
  static func isLast(_ place: some UnsignedInteger & FixedWidthInteger) -> Bool { place % 7 == 0 || place % 7 == 3 }

  private static func isLast(_ place: Int) -> Bool { isLast(UInt64(place)) }
}
