/// Which entries a memory cache lets go when it is full. <doc:Eviction> has the measurements.
public enum EvictionPolicy: Sendable, Hashable, CaseIterable {
  /// Follows whichever of three rules has lately had the most hits for a sample of the keys: S3-FIFO, W-TinyLFU, or
  /// CLOCK. The default: within a few points of the best known policy on every kind of use that was measured.
  case adaptive
  /// The entry whose last use is the longest ago. Every hit is noted under a lock of its own.
  case lru
  /// The oldest entry; hits change nothing.
  case fifo
}
