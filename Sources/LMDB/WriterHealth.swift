/// What the writer looks after between transactions.
final class WriterHealth: @unchecked Sendable {
  // Sendable: only the holder of the writer lock touches it.

  /// What is due.
  enum Check { case nothing, files, everything }

  private var writes: UInt = 0
  /// The used bytes from which the map grows ahead of time; zero for four fifths of the map.
  private var growthMark = 0

  /// Counts a write.
  ///
  /// - Parameter isCheap: Whether writes do not flush, so that looking at files would be felt.
  /// - Returns: What is due before it.
  func nextCheck(isCheap: Bool) -> Check {
    writes += 1
    if writes % 1024 == 0 { return .everything }
    return isCheap && writes % 64 != 0 ? .nothing : .files
  }

  /// Whether the map should grow before it is full.
  func shouldGrow(used: Int, of size: Int) -> Bool {
    used > max(growthMark, size / 5 * 4)
  }

  /// Puts off the next attempt to grow ahead of time, since one failed.
  func postponeGrowth(used: Int, of size: Int) {
    growthMark = used + (size - used) / 2
  }
}
