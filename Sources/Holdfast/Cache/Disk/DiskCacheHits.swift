import LMDB

/// How often this process has read entries, for up to 65,536 of them.
///
/// By the version of the entry, so that what is written anew begins anew. Whoever loses its place to another one loses its
/// hits; otherwise each one counts, whoever reads at the same moment.
struct DiskCacheHits: Sendable {
  /// The lower bits of a version, and the number of its hits.
  private let words = AtomicTable(bits: 16)
  private static let width: UInt64 = 30
  private static let limit: UInt64 = 1 << width - 1

  /// To be called before the bytes of an entry are copied: by the time its hit is counted, what that needs is there.
  @inline(__always)
  func prepare(_ version: UInt64) { words.prefetch(version) }

  /// Counts a hit.
  @inline(__always)
  func count(_ version: UInt64) {
    var word = words.load(version)
    while true {
      let new = Self.isOf(version, word) ? word &+ 1 : version << Self.width | 1
      if word & Self.limit == Self.limit && Self.isOf(version, word) { return }
      let (isDone, now) = words.exchange(word, new, version)
      if isDone { return }
      word = now
    }
  }

  /// How often a version was read since ``take(_:)``.
  func number(_ version: UInt64) -> UInt64 {
    let word = words.load(version)
    return Self.isOf(version, word) ? word & Self.limit : 0
  }

  /// As ``number(_:)``, which is zero from now on.
  func take(_ version: UInt64) -> UInt64 {
    var word = words.load(version)
    while Self.isOf(version, word) && word & Self.limit > 0 {
      let (isDone, now) = words.exchange(word, version << Self.width, version)
      if isDone { return word & Self.limit }
      word = now
    }
    return 0
  }

  @inline(__always)
  private static func isOf(_ version: UInt64, _ word: UInt64) -> Bool { (word ^ version << width) >> width == 0 }
}
