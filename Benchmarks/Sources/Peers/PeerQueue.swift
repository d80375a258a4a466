internal import CPeers

/// An outbox on another engine; each commit is flushed.
@safe
public final class PeerQueue {
  private let raw: OpaquePointer
  /// Which engine it is on.
  public let engine: Engine

  /// Opens or makes an outbox.
  ///
  /// - Parameters:
  ///   - engine: ``Engine/lmdb``, ``Engine/sqlite`` or ``Engine/rocksdb``.
  ///   - path: An existing folder.
  /// - Throws: ``PeerError``.
  public init(_ engine: Engine, at path: String) throws(PeerError) {
    self.engine = engine
    var pointer: OpaquePointer?
    try must(unsafe queue_open(engine.rawValue, path, &pointer))
    guard let pointer = unsafe pointer else { throw PeerError() }
    unsafe raw = unsafe pointer
  }

  deinit { unsafe queue_close(raw) }

  /// Adds entries, each in a lane of its own; one lane lies next to the other, as do those of our workloads.
  ///
  /// - Parameters:
  ///   - payload: What each of them carries.
  ///   - count: How many.
  ///   - perCommit: How many of them a transaction has.
  /// - Throws: ``PeerError``.
  public func enqueue(_ payload: [UInt8], count: Int, perCommit: Int) throws(PeerError) {
    try must(unsafe queue_enqueue(raw, payload, payload.count, count, perCommit))
  }

  /// Takes entries that are due and marks them in one transaction, then removes them.
  ///
  /// - Parameters:
  ///   - batch: How many at most.
  ///   - acknowledgesAlone: Whether each is removed in a transaction of its own.
  /// - Returns: How many there were.
  /// - Throws: ``PeerError``.
  public func take(_ batch: Int, acknowledgesAlone: Bool = false) throws(PeerError) -> Int {
    var taken = 0
    try must(unsafe queue_take(raw, batch, acknowledgesAlone ? 1 : 0, &taken))
    return taken
  }
}

extension PeerQueue {
  /// Removes entries that were delivered, and takes others that are due and marks them, all in one transaction.
  ///
  /// - Parameters:
  ///   - delivered: The numbers of those that leave.
  ///   - limit: How many to take at most.
  /// - Returns: The numbers of those that were taken.
  /// - Throws: ``PeerError``.
  public func exchange(_ delivered: [UInt64], limit: Int) throws(PeerError) -> [UInt64] {
    var ids = [UInt64](repeating: 0, count: limit)
    var taken = 0
    try must(unsafe queue_exchange(raw, delivered, delivered.count, limit, &ids, &taken))
    ids.removeLast(limit - taken)
    return ids
  }
}

/// What the disk itself gives: overwrites 4 KiB of a file and flushes.
///
/// - Parameters:
///   - path: The file, which is made if it is missing.
///   - count: How many times.
/// - Throws: ``PeerError``.
public func runDiskFloor(_ path: String, count: Int) throws(PeerError) {
  try must(unsafe disk_floor(path, count))
}
