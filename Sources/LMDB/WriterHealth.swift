/// What the writer looks after between transactions.
final class WriterHealth: @unchecked Sendable {
  // Sendable: only the holder of the writer lock touches it.

  /// What is due.
  enum Check { case nothing, lockFile, everything }

  private let lockFile: String
  private var identity: File.Identity?
  private var writes: UInt = 0
  /// The used bytes from which the map grows ahead of time; zero for four fifths of the map.
  private var growthMark = 0

  init(lockFileAt path: String) {
    lockFile = path
    identity = FileSystem.identity(path)
  }

  /// Counts a write.
  ///
  /// - Parameter isCheap: Whether writes do not flush, so that looking at a file would be felt.
  /// - Returns: What is due before it.
  func nextCheck(isCheap: Bool) -> Check {
    writes += 1
    if writes % 1024 == 0 { return .everything }
    return isCheap && writes % 64 != 0 ? .nothing : .lockFile
  }

  /// Whether `lock.mdb` is still the file that was locked. Whoever opens the environment with another one does not
  /// see this process, and both would write at once.
  var isLockFileInPlace: Bool { FileSystem.identity(lockFile) == identity }

  /// Takes the file that is there now for the one that was locked.
  func adoptLockFile() { identity = FileSystem.identity(lockFile) }

  /// Whether the map should grow before it is full.
  func shouldGrow(used: Int, of size: Int) -> Bool {
    used > max(growthMark, size / 5 * 4)
  }

  /// Puts off the next attempt to grow ahead of time, since one failed.
  func postponeGrowth(used: Int, of size: Int) {
    growthMark = used + (size - used) / 2
  }
}
