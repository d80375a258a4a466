/// How the entry is chosen that makes room for another.
@usableFromInline
enum EvictionRule: Sendable {
  /// The one whose last use is the longest ago.
  case leastRecentlyUsed
  /// The oldest.
  case firstInFirstOut
  /// S3-FIFO: new entries wait in a queue of a tenth, and are kept if they are asked for twice meanwhile, or again soon
  /// after they were evicted. Yang, Zhang, Qiu, Yue and Rashmi, 2023.
  case twiceUsed
  /// W-TinyLFU with a window of 1 %: an entry is kept if it was asked for more often lately than the one it displaces.
  /// The only one of them that keeps a part of a loop longer than the cache. Einziger, Friedman and Manes, 2017.
  case moreFrequent
  /// CLOCK: the oldest that was not asked for since it was looked at last. Best when only what is new is asked for again.
  case notRecent

  /// Which part of the cache new entries may take before one of them has to leave.
  var smallPart: Double {
    switch self {
    case .twiceUsed: 0.1
    case .moreFrequent: 0.01
    case .leastRecentlyUsed, .firstInFirstOut, .notRecent: 1
    }
  }
}
