import LMDB

/// What is stored of a replay cursor, besides its acknowledgements above the floor:
/// ```
/// u8   format, 1          u8   flags: 1 required
/// u32  kinds that it wants, a bit each by the number of the kind
/// u64  id, for the keys of its acknowledgements
/// u64  floor              u64  epoch, raised each time it is opened
/// u64  records that were trimmed before it had them
/// i64  when it was made, in milliseconds since 1970
/// ```
struct ReplayCursorRow: Hashable {
  private static let format: UInt8 = 1

  var isRequired: Bool
  var kinds: UInt32
  var id: UInt64
  var floor: UInt64
  var epoch: UInt64 = 0
  var missed: UInt64 = 0
  var createdAt: Int64

  /// All that happens to entries, also what later versions may add; not the moves of cursors.
  static let allKinds = UInt32.max & ~(1 << UInt32(JournalRecord.Kind.cursorMoved.rawValue))

  static func mask(_ kinds: Set<JournalRecord.Kind>?) -> UInt32 {
    kinds?.reduce(0) { $0 | 1 << UInt32($1.rawValue) } ?? allKinds
  }

  /// Whether a record of the journal is for this cursor; one that is not even a record is, so that its reader learns.
  func wants(_ record: Span<UInt8>) -> Bool {
    guard record.count > 1, record[1] < 32 else { return true }
    return kinds & 1 << UInt32(record[1]) != 0
  }
}

extension ReplayCursorRow {
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(UInt8(isRequired ? 1 : 0))
    writer.append(kinds)
    writer.append(id)
    writer.append(floor)
    writer.append(epoch)
    writer.append(missed)
    writer.append(createdAt)
    return writer.bytes
  }

  init(decoding bytes: Span<UInt8>) throws(Malformed) {
    guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
    isRequired = try bytes.load(UInt8.self, at: 1) & 1 != 0
    kinds = try bytes.load(UInt32.self, at: 2)
    id = try bytes.load(UInt64.self, at: 6)
    floor = try bytes.load(UInt64.self, at: 14)
    epoch = try bytes.load(UInt64.self, at: 22)
    missed = try bytes.load(UInt64.self, at: 30)
    createdAt = try bytes.load(Int64.self, at: 38)
  }
}
