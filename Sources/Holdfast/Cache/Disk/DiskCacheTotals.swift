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

  init() {}

  init(decoding bytes: Span<UInt8>) throws(Malformed) {
    guard try bytes.load(UInt64.self, at: 0) == Self.format else { throw Malformed("its format is not known") }
    func number(_ offset: Int) throws(Malformed) -> Int {
      Int(truncatingIfNeeded: try bytes.load(Int64.self, at: offset))
    }
    last = try bytes.load(UInt64.self, at: 8)
    count = try number(16)
    cost = try number(24)
    self.bytes = try number(32)
    fileBytes = try number(40)
    pinnedCount = try number(48)
    pinnedCost = try number(56)
    inlineThreshold = try number(64)
  }

  func encoded() -> [UInt8] {
    var writer = ByteWriter(zeros: 72)
    writer.put(Self.format, at: 0)
    writer.put(last, at: 8)
    writer.put(Int64(count), at: 16)
    writer.put(Int64(cost), at: 24)
    writer.put(Int64(bytes), at: 32)
    writer.put(Int64(fileBytes), at: 40)
    writer.put(Int64(pinnedCount), at: 48)
    writer.put(Int64(pinnedCost), at: 56)
    writer.put(Int64(inlineThreshold), at: 64)
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
