import LMDB

/// The databases of a disk cache, and how one entry is spread over them.
///
/// A class, since an edit is copied more than once and one reference costs less than seven names.
final class DiskCacheTables: Sendable {
  static let names = [
    "cache.entry", "cache.order", "cache.touch", "cache.expiry", "cache.tag", "cache.file", "cache.meta",
  ]

  /// Tree key → record; tail key → the rest of a split value.
  let entries: Database
  /// Priority and last use → tree key.
  let order: Database
  /// Stamp of a record → its use, if it was used later.
  let touches: Database
  /// Time of expiry and version → tree key.
  let expiry: Database
  /// Tag and version → tree key.
  let tags: Database
  /// Name of a file → tree key.
  let files: Database
  let meta: Database

  init(_ environment: Environment) throws(StoreError) {
    entries = try environment.database("cache.entry")
    order = try environment.database("cache.order")
    touches = try environment.database("cache.touch")
    expiry = try environment.database("cache.expiry")
    tags = try environment.database("cache.tag")
    files = try environment.database("cache.file")
    meta = try environment.database("cache.meta")
  }

  func totals(in transaction: borrowing ReadTransaction) throws(StoreError) -> DiskCacheTotals {
    guard let bytes = try transaction.value(forKey: "totals", in: meta) else { return DiskCacheTotals() }
    do throws(Malformed) {
      return try DiskCacheTotals(decoding: bytes)
    } catch {
      throw StoreError(
        .unsupportedVersion,
        "The totals of the cache cannot be read: \(error.reason); open it with the version that wrote it, or remove it."
      )
    }
  }

  /// What is known on disk of the use of a record.
  @inline(__always)
  func use(of record: DiskCacheRecord, in transaction: borrowing ReadTransaction) throws(StoreError) -> DiskCacheUse {
    guard let row = try transaction.value(forKey: ShortBytes(bigEndian: record.stamp), in: touches) else {
      return DiskCacheUse(record)
    }
    return DiskCacheUse(row) ?? DiskCacheUse(record)
  }

  /// The last use that the order on disk knows for a record.
  @inline(__always)
  func lastUse(of record: DiskCacheRecord, in transaction: borrowing ReadTransaction) throws(StoreError) -> UInt64 {
    try use(of: record, in: transaction).last
  }

  /// Whether the time of an entry is over: by what it was given, or since it was not used for longer than it may.
  ///
  /// - Parameters:
  ///   - record: The entry.
  ///   - now: In ms since 1970.
  ///   - ageLimit: How long it may go unused, in ms.
  ///   - time: When it was last read, if the order on disk does not know that yet.
  ///   - transaction: Where it was read.
  /// - Returns: Whether it counts as missing.
  /// - Throws: What LMDB refuses.
  func isOver(
    _ record: DiskCacheRecord, at now: Int64, ageLimit: Int64, noted time: @autoclosure () -> Int64?,
    in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> Bool {
    if record.expiresAt != 0 && record.expiresAt <= now { return true }
    if ageLimit == .max { return false }
    let oldest = now - ageLimit
    if Int64(clamping: record.stamp / 1000) > oldest { return false }
    if let time = time(), time > oldest { return false }
    return Int64(clamping: try lastUse(of: record, in: transaction) / 1000) <= oldest
  }

  /// The places in the order of what may have to leave.
  static let evictable = KeyRange(upper: .excluded([CachePriority.pinned.rawValue]))

  /// Where a record stands in the order of use.
  static func orderKey(_ priority: CachePriority, _ stamp: UInt64) -> ShortBytes {
    var key = ShortBytes()
    key.append(priority.rawValue)
    key.append(bigEndian: stamp)
    return key
  }

  static func expiryKey(_ record: DiskCacheRecord) -> [UInt8] {
    UInt64(clamping: record.expiresAt).bigEndianBytes + record.version.bigEndianBytes
  }

  /// A tag's rows start with its length, so that no tag's are another's.
  static func tagPrefix(_ tag: [UInt8]) -> [UInt8] { [UInt8(truncatingIfNeeded: tag.count)] + tag }

  static func tagKey(_ tag: [UInt8], _ version: UInt64) -> [UInt8] { tagPrefix(tag) + version.bigEndianBytes }

  /// Up to `limit` rows from the start of a range.
  func rows(
    _ range: KeyRange = .all, of database: Database, limit: Int, in transaction: borrowing ReadTransaction
  ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
    var found: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try transaction.cursor(in: database, over: range)
    while found.count < limit, try cursor.next() {
      found.append(([UInt8](copying: cursor.key), [UInt8](copying: cursor.value)))
    }
    return found
  }
}
