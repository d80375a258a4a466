internal import CPeers
public import Harness

/// A store of another engine, whose loops run in C++.
///
/// Its writing calls are for one thread at a time, but for those of RocksDB and LevelDB; each reading thread has a
/// ``Reader``.
@safe
public final class Peer: @unchecked Sendable {
  // Sendable: the engines are; where the writer's half is not, the callers use it from one thread at a time.
  let raw: OpaquePointer
  /// Which engine it is.
  public let engine: Engine

  /// Opens or makes a store.
  ///
  /// - Parameters:
  ///   - engine: Which engine.
  ///   - path: An existing folder.
  ///   - durability: When a commit is safe; not ``Harness/Durability/none``, which no peer offers.
  ///   - records: How many records it will hold, roughly.
  /// - Throws: ``PeerError``.
  public init(_ engine: Engine, at path: String, _ durability: Durability, records: Int) throws(PeerError) {
    self.engine = engine
    var pointer: OpaquePointer?
    let level = durability == .powerLossSafe ? PEER_POWER_LOSS_SAFE : PEER_PROCESS_CRASH_SAFE
    try must(unsafe peer_open(engine.rawValue, path, level, records, &pointer))
    guard let pointer = unsafe pointer else { throw PeerError() }
    unsafe raw = unsafe pointer
  }

  deinit { unsafe peer_close(raw) }

  /// Finishes what the engine does in the background.
  ///
  /// - Throws: ``PeerError``.
  public func settle() throws(PeerError) { try must(unsafe peer_settle(raw)) }

  /// Flushes what has been committed.
  ///
  /// - Throws: ``PeerError``.
  public func flush() throws(PeerError) { try must(unsafe peer_flush(raw)) }

  /// Stores the value at the same place for each key.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  ///   - values: At least as many values; taken from `valueStart` on.
  ///   - valueStart: The value of the first key.
  ///   - perCommit: How many records a transaction has.
  ///   - appends: Whether the keys rise and lie above all others.
  /// - Throws: ``PeerError``.
  public func put(
    _ keys: KeyBlock, _ range: Range<Int>, _ values: ValueBlock, from valueStart: Int, perCommit: Int,
    appends: Bool = false
  ) throws(PeerError) {
    precondition(valueStart + range.count <= values.count)
    let code = unsafe keys.withPeerKeys(range) { keys in
      unsafe values.bytes.withUnsafeBufferPointer { buffer -> Int32 in
        let start = unsafe buffer.baseAddress.map { unsafe $0 + valueStart * values.width }
        return appends
          ? unsafe peer_append(raw, keys, start, values.width, perCommit)
          : unsafe peer_put(raw, keys, start, values.width, perCommit)
      }
    }
    try must(code)
  }

  /// Removes keys.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  ///   - perCommit: How many of them a transaction has.
  /// - Throws: ``PeerError``.
  public func remove(_ keys: KeyBlock, _ range: Range<Int>, perCommit: Int) throws(PeerError) {
    try must(unsafe keys.withPeerKeys(range) { unsafe peer_remove(raw, $0, perCommit) })
  }

  /// Does a mix of operations.
  ///
  /// - Parameters:
  ///   - operations: What to do.
  ///   - range: Which of them.
  ///   - reader: A reader of this store.
  ///   - keys: The keys that the operations name.
  ///   - values: As many values.
  /// - Returns: A sum of what was read.
  /// - Throws: ``PeerError``.
  public func run(
    _ operations: OperationList, _ range: Range<Int>, _ reader: Reader, _ keys: KeyBlock, _ values: ValueBlock
  ) throws(PeerError) -> UInt64 {
    var sum: UInt64 = 0
    let code = unsafe keys.withPeerKeys(0..<keys.count) { keys in
      unsafe values.bytes.withUnsafeBufferPointer { values -> Int32 in
        unsafe operations.raw.withUnsafeBufferPointer { operations in
          let start = unsafe operations.baseAddress.map { unsafe $0 + range.lowerBound }
          return unsafe peer_run(
            raw, reader.raw, keys, values.baseAddress, values.count / max(1, keys.count), start, range.count, &sum)
        }
      }
    }
    try must(code)
    return sum
  }
}

extension KeyBlock {
  /// The keys as C sees them, for the length of a call.
  func withPeerKeys(_ range: Range<Int>, _ body: (peer_keys) -> Int32) -> Int32 {
    precondition(range.upperBound <= count)
    return unsafe bytes.withUnsafeBufferPointer { buffer in
      let start = unsafe buffer.baseAddress.map { unsafe $0 + range.lowerBound * width }
      return unsafe body(peer_keys(bytes: start, length: width, count: range.count))
    }
  }
}
