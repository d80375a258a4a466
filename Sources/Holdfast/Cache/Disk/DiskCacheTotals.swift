import LMDB

/// The sums over all entries, kept with each change, and the last number that was given to one.
struct DiskCacheTotals: Sendable, Hashable {
  static let format: UInt64 = 1

  var count = 0
  var cost = 0
  /// The bytes of all values.
  var bytes = 0
  /// Those of them that are in files.
  var fileBytes = 0
  var pinnedCount = 0
  var pinnedCost = 0
  /// The newest version.
  var last: UInt64 = 0
  /// The inline threshold in force.
  var inlineThreshold = 0

  private static let fields: [any WritableKeyPath<DiskCacheTotals, Int> & Sendable] = [
    \.count, \.cost, \.bytes, \.fileBytes, \.pinnedCount, \.pinnedCost, \.inlineThreshold,
  ]

  init() {}

  init(decoding bytes: Span<UInt8>) throws(Malformed) {
    guard try bytes.load(UInt64.self, at: 0) == Self.format else { throw Malformed("its format is not known") }
    last = try bytes.load(UInt64.self, at: 8)
    for (index, field) in Self.fields.enumerated() {
      self[keyPath: field] = Int(truncatingIfNeeded: try bytes.load(Int64.self, at: 16 + 8 * index))
    }
  }

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(last)
    for field in Self.fields { writer.append(Int64(self[keyPath: field])) }
    return writer.bytes
  }

  /// A number above all that were given, in µs since 1970 where the clock allows.
  mutating func nextVersion(at now: Int64) -> UInt64 {
    last = max(last + 1, UInt64(clamping: now) &* 1000)
    return last
  }

  /// Counts an entry in, or out with `sign` -1.
  mutating func add(_ record: DiskCacheRecord, sign: Int = 1) {
    count += sign
    cost += sign * Int(record.cost)
    bytes += sign * record.length
    if record.flags == .file { fileBytes += sign * record.length }
    if record.priority == .pinned {
      pinnedCount += sign
      pinnedCost += sign * Int(record.cost)
    }
  }
}
