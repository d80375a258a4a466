import LMDB

/// One record of the state, in memory.
struct StateRecord {
  /// The stamp of the update that wrote the fields; 0 if there are none.
  var stamp: UInt64 = 0
  /// The time of that update, in milliseconds since 1970.
  var updatedAt: Int64 = 0
  /// When the fields end, in milliseconds since 1970; 0 for never.
  var expiresAt: Int64 = 0
  /// Whether requests in flight have layers over the fields.
  var isLayered = false
  var fields = FieldMap()
  /// Whether it stands in for one that cannot be read, and is about to be removed.
  var isUnreadable = false

  /// Whether there is more than a stub that leads to layers.
  var isPresent: Bool { !fields.isEmpty || isUnreadable }
  /// Whether nothing is left to keep.
  var isVacant: Bool { fields.isEmpty && !isLayered }

  /// Drops fields whose time is over.
  mutating func expire(at now: Int64) {
    guard StateExpiry.isOver(expiresAt, at: now) else { return }
    fields = FieldMap()
    expiresAt = 0
    stamp = 0
  }
}

/// What is around the fields of a record on disk.
///
/// ```
/// u8   format, 2            u8   flags: 1 = there are layers        u16  length of the key below
/// u64  stamp of the update that wrote it
/// i64  time of that update, in milliseconds since 1970
/// i64  time of expiry in milliseconds since 1970, or 0 for never
/// the full key, if it is too long for the database's key
/// the fields, as a FieldTable
/// u64  checksum of everything before
/// ```
struct RecordHeader {
  fileprivate static let format: UInt8 = 2
  private static let length = 28
  private static let layeredFlag: UInt8 = 1
  private static let checksumLength = 8

  let isLayered: Bool
  let keyLength: Int
  let stamp: UInt64
  let updatedAt: Int64
  let expiresAt: Int64

  init(_ bytes: Span<UInt8>) throws(Malformed) {
    guard bytes.count >= Self.length + Self.checksumLength else { throw Malformed.endsEarly }
    guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
    let flags = try bytes.load(UInt8.self, at: 1)
    guard flags & ~Self.layeredFlag == 0 else { throw Malformed("it has unknown flags") }
    isLayered = flags & Self.layeredFlag != 0
    keyLength = Int(try bytes.load(UInt16.self, at: 2))
    stamp = try bytes.load(UInt64.self, at: 4)
    updatedAt = try bytes.load(Int64.self, at: 12)
    expiresAt = try bytes.load(Int64.self, at: 20)
    guard bytes.count >= Self.length + keyLength + Self.checksumLength else { throw Malformed.endsEarly }
  }

  /// Checks that a record is as it was written, and that of `key` and not of a long key with the same hash.
  static func check(_ bytes: Span<UInt8>, of key: StateKey) throws(Malformed) {
    try check(bytes, isPlain: key.form == .plain)
    if key.form == .plain { return }
    let longKey = try RecordHeader(bytes).key(in: bytes)
    guard key.text.withBytes({ $0.elementsEqual(longKey) }) else {
      throw Malformed("it belongs to another key with the same hash")
    }
  }

  /// Checks that a record is as it was written; whose it is too if its key is stored as it is.
  static func check(_ bytes: Span<UInt8>, isPlain: Bool) throws(Malformed) {
    let end = bytes.count - checksumLength
    guard end >= length else { throw Malformed.endsEarly }
    guard try bytes.load(UInt8.self, at: 0) == format else { throw Malformed("its format is unknown") }
    guard try bytes.load(UInt64.self, at: end) == bytes.extracting(0..<end).checksum(0) else {
      throw Malformed("its checksum is wrong")
    }
    if isPlain, try bytes.load(UInt16.self, at: 2) != 0 { throw Malformed("it claims another key") }
  }

  /// Whether there are layers over a record that has been checked.
  static func isLayered(_ bytes: Span<UInt8>) -> Bool {
    (bytes.littleEndian(UInt8.self, at: 1) ?? 0) & layeredFlag != 0
  }

  /// When a record that has been checked expires, in milliseconds since 1970; 0 for never.
  static func expiresAt(_ bytes: Span<UInt8>) -> Int64 { bytes.littleEndian(Int64.self, at: 20) ?? 0 }

  /// The full key in a record that has one.
  @_lifetime(copy bytes)
  func key(in bytes: Span<UInt8>) throws(Malformed) -> Span<UInt8> { try bytes.slice(Self.length, keyLength) }

  /// The fields in a record.
  @_lifetime(copy bytes)
  static func table(of bytes: Span<UInt8>) throws(Malformed) -> Span<UInt8> {
    let offset = length + Int(try bytes.load(UInt16.self, at: 2))
    return try bytes.slice(offset, bytes.count - offset - checksumLength)
  }
}

extension StateRecord {
  /// The most bytes of a record, and of what a request promises of one: tools take them into memory whole.
  static let byteLimit = 64 << 20

  func encoded(for key: StateKey) throws(StoreError) -> [UInt8] {
    let isHashed = key.form == .hashed
    var header = ShortBytes()
    header.append(RecordHeader.format)
    header.append(UInt8(isLayered ? 1 : 0))
    header.append(UInt16(isHashed ? key.text.utf8.count : 0))
    header.append(stamp)
    header.append(updatedAt)
    header.append(expiresAt)
    var writer = ByteWriter(capacity: 64 + 48 * fields.count)
    writer.append(header)
    if isHashed { writer.append(text: key.text) }
    do throws(StoreError) {
      try FieldTable.append(fields, to: &writer)
    } catch {
      throw key.naming(error)
    }
    writer.append(writer.bytes.span.checksum(0))
    try Self.check(writer.count, of: key)
    return writer.bytes
  }

  static func check(_ count: Int, of key: StateKey) throws(StoreError) {
    if count > byteLimit {
      throw key.naming(
        StoreError(.invalidValue, "It takes \(count) bytes; use at most \(byteLimit), and a file for what is large."))
    }
  }

  init(decoding bytes: Span<UInt8>, of key: StateKey) throws(Malformed) {
    try RecordHeader.check(bytes, of: key)
    let header = try RecordHeader(bytes)
    stamp = header.stamp
    updatedAt = header.updatedAt
    expiresAt = header.expiresAt
    isLayered = header.isLayered
    fields = try FieldTable.decode(RecordHeader.table(of: bytes))
  }
}

extension StateKey {
  /// The key of a row of records, from its key in the database and its value.
  init(stored: Span<UInt8>, record: Span<UInt8>) throws(Malformed) {
    let header = try RecordHeader(record)
    self.init(try header.keyLength == 0 ? stored.text() : header.key(in: record).text())
    let isRight = form == (header.keyLength == 0 ? .plain : .hashed) && storedBytes.span.elementsEqual(stored)
    guard isRight else { throw Malformed("it claims another key") }
  }

  /// The error for a record of this key that cannot be read.
  func unreadable(_ error: Malformed) -> StoreError {
    StoreError(
      .corruptRecord,
      "The state record \(self) cannot be read: \(error.reason); remove it, other records are not affected.")
  }
}
