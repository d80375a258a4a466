internal import CPeers
public import Harness

/// A disk cache on another engine: values are copied out, writes are committed without a flush.
@safe
public final class PeerBlobs {
  /// What it is built on.
  public enum Design: String, Sendable, CaseIterable {
    /// YYCache's schema, pragmas and files.
    case yycache
    /// One table of blobs.
    case sqlite
    /// The same with pages of 16 KiB.
    case sqliteLargePages = "sqlite-16k"
    /// A file for each value.
    case files
    /// RocksDB.
    case rocksdb
    /// liblmdb, called from C.
    case lmdb

    /// Its name in reports.
    public var name: String {
      switch self {
      case .yycache: "YYCache's design"
      case .sqlite: "SQLite blobs"
      case .sqliteLargePages: "SQLite blobs, 16 KB pages"
      case .files: "a file each"
      case .rocksdb: "RocksDB"
      case .lmdb: "raw LMDB (C)"
      }
    }
  }

  private let raw: OpaquePointer
  /// What it is built on.
  public let design: Design

  /// Opens or makes a cache.
  ///
  /// - Parameters:
  ///   - design: What it is built on.
  ///   - path: An existing folder.
  /// - Throws: ``PeerError``.
  public init(_ design: Design, at path: String) throws(PeerError) {
    self.design = design
    var pointer: OpaquePointer?
    try must(unsafe blobs_open(design.rawValue, path, &pointer))
    guard let pointer = unsafe pointer else { throw PeerError() }
    unsafe raw = unsafe pointer
  }

  deinit { unsafe blobs_close(raw) }

  /// Stores the value at the same place for each key, one commit each.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  ///   - values: The values.
  ///   - start: The value of the first key.
  /// - Throws: ``PeerError``.
  public func set(
    _ keys: KeyBlock, _ range: Range<Int>, _ values: ValueBlock, from start: Int
  ) throws(PeerError) {
    precondition(start + range.count <= values.count)
    let code = unsafe keys.withPeerKeys(range) { keys in
      unsafe values.bytes.withUnsafeBufferPointer { buffer -> Int32 in
        let first = unsafe buffer.baseAddress.map { unsafe $0 + start * values.width }
        return unsafe blobs_set(raw, keys, first, values.width)
      }
    }
    try must(code)
  }

  /// Copies values out.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  /// - Returns: The sum of their values' ``Swift/Span/touched``.
  /// - Throws: ``PeerError``.
  public func get(_ keys: KeyBlock, _ range: Range<Int>) throws(PeerError) -> UInt64 {
    var sum: UInt64 = 0
    try must(unsafe keys.withPeerKeys(range) { unsafe blobs_get(raw, $0, &sum) })
    return sum
  }

  /// Touches values where the engine has them; files and YYCache's design copy them, as they cannot do without.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  /// - Returns: A sum as ``get(_:_:)``.
  /// - Throws: ``PeerError``.
  public func getInPlace(_ keys: KeyBlock, _ range: Range<Int>) throws(PeerError) -> UInt64 {
    var sum: UInt64 = 0
    try must(unsafe keys.withPeerKeys(range) { unsafe blobs_get_in_place(raw, $0, &sum) })
    return sum
  }

  /// Removes keys, one commit each.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - range: Which of them.
  /// - Throws: ``PeerError``.
  public func remove(_ keys: KeyBlock, _ range: Range<Int>) throws(PeerError) {
    try must(unsafe keys.withPeerKeys(range) { unsafe blobs_remove(raw, $0) })
  }
}
