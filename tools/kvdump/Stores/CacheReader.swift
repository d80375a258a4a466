import Holdfast
import LMDB
import LMDBFile

/// The disk half of a cache, as a snapshot of the file has it.
struct CacheReader {
  private let entries: StoreTable

  init(_ reading: Reading, _ snapshot: Snapshot) throws(Failure) {
    entries = try StoreTable("cache.entry", of: "cache", reading, snapshot)
  }

  /// Visits entries in the order of their keys; ends when `body` says so.
  func forEach(
    prefix: [UInt8] = [], _ body: (Result<DiskCacheRow, StoreError>, _ row: [UInt8]) throws(Failure) -> Bool
  ) throws(Failure) {
    try entries.forEach(from: prefix.isEmpty ? nil : prefix) { (key, value) throws(Failure) in
      guard key.starts(with: prefix) else { return false }
      if DiskCacheRow.isTail(key) { return true }
      return try body(Self.row(key, value), value)
    }
  }

  /// The entry of a key.
  func entry(_ key: [UInt8]) throws(Failure) -> (Result<DiskCacheRow, StoreError>, [UInt8])? {
    // A long key is stored as its start and a hash, so its neighbours are looked through.
    var found: (Result<DiskCacheRow, StoreError>, [UInt8])?
    try forEach(prefix: Array(key.prefix(400))) { (row, value) throws(Failure) in
      guard let entry = try? row.get(), entry.key == key else { return true }
      found = (row, value)
      return false
    }
    return found
  }

  private static func row(_ key: [UInt8], _ value: [UInt8]) -> Result<DiskCacheRow, StoreError> {
    do throws(StoreError) { return .success(try DiskCacheRow(key, value)) } catch { return .failure(error) }
  }
}

/// Entries of a cache as lines of tables.
enum CacheText {
  static let header = ["KEY", "BYTES", "COST", "PRIORITY", "AGE", "EXPIRES", "IN", "TAGS"]

  static func row(_ entry: Result<DiskCacheRow, StoreError>, now: Int64) -> [String] {
    switch entry {
    case .success(let entry):
      [
        shortened(entry.key, to: 48), "\(entry.length)", "\(entry.cost)", "\(entry.priority)",
        duration(now - entry.writtenAt),
        entry.expiresAt == 0 ? "never" : entry.expiresAt <= now ? "is over" : "in " + duration(entry.expiresAt - now),
        entry.place.rawValue, entry.tags.map { shortened($0, to: 20) }.joined(separator: ","),
      ]
    case .failure(let error): ["?", "?", "?", "?", "?", "?", "?", printable(error.message, limit: 100)]
    }
  }
}
