import LMDB

/// What `cache.touch` has on an entry that was read since it was written.
struct DiskCacheUse: Sendable, Hashable {
  /// Its place in the order of use.
  var last: UInt64
  /// Which version was read so often: an entry that was written over keeps its row.
  var version: UInt64 = 0
  var hits: UInt64 = 0

  /// The use of an entry that has no row.
  init(_ record: DiskCacheRecord) { last = record.stamp }

  /// Reads a row; those of earlier versions of the library do not tell hits. `nil` if it cannot be one.
  @inline(__always)
  init?(_ row: Span<UInt8>) {
    guard row.count == 8 || row.count == 24, let last = row.littleEndian(UInt64.self, at: 0) else { return nil }
    self.last = last
    version = row.littleEndian(UInt64.self, at: 8) ?? 0
    hits = row.littleEndian(UInt64.self, at: 16) ?? 0
  }

  /// The hits of a version as far as they are on disk.
  func hits(of version: UInt64) -> UInt64 { version == self.version ? hits : 0 }

  /// The bytes of a row.
  func encoded() -> ShortBytes {
    var bytes = ShortBytes()
    bytes.append(last)
    bytes.append(version)
    bytes.append(hits)
    return bytes
  }
}
