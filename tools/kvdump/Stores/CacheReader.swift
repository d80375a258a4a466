import Holdfast
import LMDB
import LMDBFile

/// The disk half of a cache, as a snapshot of the file has it.
struct CacheReader {
  /// An entry as it is stored, and what that says if it can be read.
  struct Entry {
    /// The key and the value of its row.
    let stored: [UInt8]
    let bytes: [UInt8]
    let row: Result<DiskCacheRow, StoreError>

    init(_ stored: [UInt8], _ bytes: [UInt8]) {
      (self.stored, self.bytes) = (stored, bytes)
      do throws(StoreError) { row = .success(try DiskCacheRow(stored, bytes)) } catch { row = .failure(error) }
    }
  }

  private let entries: StoreTable
  /// Missing where the index was lost; what it says is only about use.
  private let touches: StoreTable?
  /// The files of large values.
  let files: CacheFiles

  init(_ reading: Reading, _ snapshot: Snapshot) throws(Failure) {
    entries = try StoreTable("cache.entry", of: "cache", reading, snapshot)
    touches = try? StoreTable("cache.touch", of: "cache", reading, snapshot)
    files = CacheFiles(path: "\(entries.directory)/\(StoreFolder.files.name)")
  }

  /// Visits entries in the order of their keys; ends when `body` says so.
  func forEach(prefix: [UInt8] = [], _ body: (Entry) throws(Failure) -> Bool) throws(Failure) {
    try entries.forEach(prefix: prefix) { (key, value) throws(Failure) in
      if DiskCacheRow.isTail(key) { return true }
      return try body(Entry(key, value))
    }
  }

  /// The entry of a key, if it can be read.
  func entry(_ key: [UInt8]) throws(Failure) -> (Entry, DiskCacheRow)? {
    // A long key is stored as its start and a hash, so its neighbours are looked through.
    var found: (Entry, DiskCacheRow)?
    try forEach(prefix: Array(key.prefix(400))) { (entry) throws(Failure) in
      guard let row = try? entry.row.get(), row.key == key else { return true }
      found = (entry, row)
      return false
    }
    return found
  }

  /// The row with the end of a value in two rows.
  func tail(of entry: Entry) throws(Failure) -> [UInt8] {
    try entries.value(DiskCacheRow.tail(of: entry.stored)) ?? []
  }

  /// When an entry was last used, and how often, as far as the file knows.
  func use(of row: DiskCacheRow) throws(Failure) -> (lastUsedAt: Int64, hits: UInt64) {
    row.use(try touches?.value(row.useKey))
  }

  /// The first bytes of a value, wherever they are.
  func start(of entry: Entry, _ row: DiskCacheRow, count: Int) throws(Failure) -> [UInt8] {
    if let file = row.file { return files.start(of: file, count: count) ?? [] }
    let bytes = row.value(in: entry.bytes)
    return Array((bytes + (bytes.count < count && row.place == .rows ? try tail(of: entry) : [])).prefix(count))
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
