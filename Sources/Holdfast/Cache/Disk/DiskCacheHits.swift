import LMDB

/// How often this process has read entries, for up to 65,536 of them.
///
/// By the version of the entry, so that what is written anew begins anew. Whoever loses its place to another one loses its
/// hits. Of threads that count a hit of one entry at the same moment, one does; none is made up.
struct DiskCacheHits: Sendable {
  /// The lower bits of a version, and the number of its hits. A read adds to it without waiting for anybody, so nobody
  /// may ever take anything off: that could come back.
  private let counted = AtomicTable(bits: 16)
  /// The same of those hits that went to disk.
  private let taken = AtomicTable(bits: 16)
  private static let width: UInt64 = 30
  private static let limit: UInt64 = 1 << width - 1

  /// To be called before the bytes of an entry are copied: by the time its hit is counted, what that needs is there.
  @inline(__always)
  func prepare(_ version: UInt64) { counted.prefetch(version) }

  /// Counts a hit.
  @inline(__always)
  func count(_ version: UInt64) {
    let word = counted.load(version)
    if !Self.isOf(version, word) {
      counted.store(version << Self.width | 1, version)
    } else if word & Self.limit < Self.limit {
      counted.store(word &+ 1, version)
    }
  }

  /// How often a version was read since ``take(_:)``.
  func number(_ version: UInt64) -> UInt64 {
    let (all, old) = (Self.number(version, counted), Self.number(version, taken))
    // A version that lost its place, and has it again, has begun anew.
    return all >= old ? all - old : all
  }

  /// As ``number(_:)``, which is zero from now on; for one thread at a time.
  func take(_ version: UInt64) -> UInt64 {
    let all = Self.number(version, counted)
    let number = number(version)
    if number > 0 { taken.store(version << Self.width | all, version) }
    return number
  }

  private static func number(_ version: UInt64, _ table: AtomicTable) -> UInt64 {
    let word = table.load(version)
    return isOf(version, word) ? word & limit : 0
  }

  @inline(__always)
  private static func isOf(_ version: UInt64, _ word: UInt64) -> Bool { (word ^ version << width) >> width == 0 }
}
