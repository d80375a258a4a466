import LMDB
import Synchronization

/// The flush that follows writes which were not flushed, and the mark that stands between them.
final class DiskCacheSync: Sendable {
  private let environment: Environment
  private let tables: DiskCacheTables
  /// Another one after the directory was removed and made anew.
  private let currentMark: Guarded<DiskCacheMark>
  private let configuration: DiskCache.Configuration
  private let system: CacheSystem
  private let events: CacheStreams<CacheEvent>
  /// Whether a flush is on its way.
  private let isScheduled = Atomic(false)
  /// What else is due after a while of writing, on the same thread.
  private let maintenance = Monitor<(@Sendable () -> Void)?>(nil)

  init(
    _ environment: Environment, _ tables: DiskCacheTables, _ mark: DiskCacheMark,
    _ configuration: DiskCache.Configuration, _ system: CacheSystem, _ events: CacheStreams<CacheEvent>
  ) {
    self.environment = environment
    self.tables = tables
    currentMark = Guarded(mark)
    self.configuration = configuration
    self.system = system
    self.events = events
  }

  private var mark: DiskCacheMark { currentMark.update { $0 } }

  /// Goes on with the mark of a directory that was made anew.
  func follow(_ mark: DiskCacheMark) { currentMark.update { $0 = mark } }

  /// Has `work` run after each background flush.
  func follow(with work: @escaping @Sendable () -> Void) { maintenance.update { $0 = work } }

  /// Sees to it that the mark stands before a commit that is not flushed; inside its transaction.
  func willWrite() throws(StoreError) {
    try raiseMark(mark)
    schedule()
  }

  /// Has a mark stand, unless every commit is flushed.
  func raiseMark(_ mark: DiskCacheMark) throws(StoreError) {
    if configuration.durability == .unsynced, try !mark.isSet() { try mark.set(try system.bootID()) }
  }

  /// Flushes and clears the mark after a while, if that is not on its way already.
  func schedule() {
    // Mostly it is, and to look costs less than to say so again.
    if isScheduled.load(ordering: .acquiring) || isScheduled.exchange(true, ordering: .acquiringAndReleasing) { return }
    Task { [self] in
      while true {
        try? await system.time.sleep(configuration.syncDelay)
        let isDone = Monitor(false)
        await Background.run { [self] in
          let result = backgroundTurn()
          isDone.update { $0 = result }
        }
        if isDone.update({ $0 }) { return }
      }
    }
  }

  private func backgroundTurn() -> Bool {
    do {
      let isClean = try flush(isTurn: true)
      maintenance.update { $0 }?()
      return isClean
    } catch {
      isScheduled.store(false, ordering: .releasing)
      // Whoever closes an environment has seen to its flush.
      if error.code != .closed { events.send([.maintenanceFailed(error)]) }
      return true
    }
  }

  /// Flushes what was committed, and clears the mark unless there were writes meanwhile.
  ///
  /// - Parameter isTurn: Whether it is the one that is scheduled; then the next write schedules another.
  /// - Returns: Whether everything is on the device.
  /// - Throws: What the device refuses.
  func flush(isTurn: Bool = false) throws(StoreError) -> Bool {
    do {
      // Of what somebody has removed, nothing needs to stay.
      if try environment.isRemoved() {
        if isTurn { isScheduled.store(false, ordering: .releasing) }
        return true
      }
      let before = try lastVersion()
      if try mark.isSet() { try environment.sync() }
      return try clearMark(ifLast: before, isTurn: isTurn)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.io, "The cache at \(environment.path) could not be flushed: \(error); close it and try again.")
    }
  }

  /// Says that everything is flushed, if nothing was written since the commit of a number.
  ///
  /// - Parameters:
  ///   - number: The ``DiskCacheTotals/last`` that was flushed.
  ///   - isTurn: As for ``flush(isTurn:)``.
  /// - Returns: Whether that is so.
  /// - Throws: What the device refuses.
  func clearMark(ifLast number: UInt64, isTurn: Bool = false) throws -> Bool {
    // No other process writes now, so that nobody's mark is lost.
    try environment.write { transaction in
      guard try tables.totals(in: transaction.reader).last == number else { return false }
      if try mark.isSet() { try mark.clear() }
      // In the transaction: a write that comes next sees it and schedules anew.
      if isTurn { isScheduled.store(false, ordering: .releasing) }
      return true
    }
  }

  private func lastVersion() throws -> UInt64 {
    try environment.read { transaction in try tables.totals(in: transaction).last }
  }
}
