import LMDB

/// Which entries this process has read and found as they were written, and how often it has read them since the disk was
/// told; up to 65,536 of them.
///
/// By the version of the entry, so that what is written anew begins anew. Whoever loses its place to another one is
/// checked again, and its hits are lost. Of threads that count a hit of one entry at the same moment, one does; none is
/// made up.
struct DiskCacheHits: Sendable {
  /// The lower bits of a version, a bit that says that it was checked, and the number of its hits.
  private let words = AtomicTable(bits: 16)
  private static let checked: UInt64 = 1 << 24
  private static let limit = checked - 1

  /// Whether a version was found as it was written.
  @inline(__always)
  func isChecked(_ version: UInt64) -> Bool { words.load(version) & ~Self.limit == Self.tag(version) | Self.checked }

  /// Remembers that a version is as it was written.
  func check(_ version: UInt64) { words.store(Self.tag(version) | Self.checked | number(version), version) }

  /// Counts a hit.
  @inline(__always)
  func count(_ version: UInt64) {
    let word = words.load(version)
    let isOther = !Self.isOf(version, word)
    if isOther || word & Self.limit < Self.limit {
      _ = words.replace(word, by: isOther ? Self.tag(version) | 1 : word &+ 1, version)
    }
  }

  /// How often a version was read since ``take(_:)``.
  func number(_ version: UInt64) -> UInt64 {
    let word = words.load(version)
    return Self.isOf(version, word) ? word & Self.limit : 0
  }

  /// As ``number(_:)``, which is zero from now on.
  func take(_ version: UInt64) -> UInt64 {
    while true {
      let word = words.load(version)
      guard Self.isOf(version, word) else { return 0 }
      if words.replace(word, by: word & ~Self.limit, version) { return word & Self.limit }
    }
  }

  @inline(__always)
  private static func tag(_ version: UInt64) -> UInt64 { version << 25 }

  @inline(__always)
  private static func isOf(_ version: UInt64, _ word: UInt64) -> Bool { (word ^ tag(version)) >> 25 == 0 }
}
