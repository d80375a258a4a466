import LMDB
import Synchronization

extension DiskCache {
  /// Whether somebody has removed the directory; asked by each write, but at most once a tick of the system's clock.
  func isRemoved() throws(StoreError) -> Bool {
    let now = system.time.roughNow()
    if lookedAt.load(ordering: .relaxed) == now { return false }
    lookedAt.store(now, ordering: .relaxed)
    return try environment.isRemoved()
  }

  /// Starts with an empty cache where somebody has removed the directory, or goes on with the one that another process has
  /// made there for the same reason.
  func startAnew() throws {
    let last = try totals().last
    try FileSystem.makeDirectory(path)
    let lock = try File("\(path)/cache.lock", .lock)
    _ = try lock.lock(waiting: true)
    defer { lock.unlock() }
    // Before the first commit that is not flushed, which makes the databases.
    let mark = try DiskCacheMark(in: path)
    try sync.raiseMark(mark)
    sync.follow(mark)
    guard try environment.reopenIfRemoved() else { return }
    // No number is given twice, so that nothing in memory is taken for what is here.
    try environment.write { transaction in
      var totals = try tables.totals(in: transaction.reader)
      totals.last = max(totals.last, last)
      let bytes = totals.encoded()
      try transaction.set(bytes, forKey: "totals", in: tables.meta)
    }
    eventStreams.send([.externallyRemoved(path: path)])
  }
}
