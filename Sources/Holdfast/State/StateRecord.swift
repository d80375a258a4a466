import LMDB

/// One record of the state, and its binary form.
///
/// ```
/// u8   format, 1            u8   flags, 0           u16  length of the key below
/// u64  stamp of the update that wrote it
/// i64  time of that update, in milliseconds since 1970
/// i64  time of expiry in milliseconds since 1970, or 0 for never
/// the full key, if it is too long for the database's key
/// the fields, as a FieldTable
/// ```
struct StateRecord {
  var stamp: UInt64
  var updatedAt: Int64
  var expiresAt: Int64 = 0
  var fields: FieldMap

  private static let format: UInt8 = 1
  private static let headerLength = 28

  func encoded(for key: StateKey) throws(StoreError) -> [UInt8] {
    let full = key.fullBytes
    let longKey = full.count > StateKey.plainLimit ? full : []
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(UInt8(0))
    writer.append(UInt16(longKey.count))
    writer.append(stamp)
    writer.append(updatedAt)
    writer.append(expiresAt)
    writer.append(bytes: longKey)
    try FieldTable.append(fields, to: &writer)
    return writer.bytes
  }

  /// Decodes a record, and checks that it is the one of `key` and not of a long key with the same hash.
  init(decoding bytes: Span<UInt8>, for key: StateKey) throws(StoreError) {
    do throws(Malformed) {
      guard try bytes.load(UInt8.self, at: 0) == Self.format else { throw Malformed("its format is unknown") }
      let keyLength = Int(try bytes.load(UInt16.self, at: 2))
      let longKey = try bytes.slice(Self.headerLength, keyLength)
      let full = key.fullBytes
      guard full.count > StateKey.plainLimit ? longKey.elementsEqual(full.span) : keyLength == 0 else {
        throw Malformed("it belongs to another key with the same hash")
      }
      stamp = try bytes.load(UInt64.self, at: 4)
      updatedAt = try bytes.load(Int64.self, at: 12)
      expiresAt = try bytes.load(Int64.self, at: 20)
      let start = Self.headerLength + keyLength
      fields = try FieldTable.decode(bytes.slice(start, bytes.count - start))
    } catch {
      throw StoreError(
        .corruptRecord,
        "The state record \(key) cannot be read: \(error.reason); remove it, other records are not affected.")
    }
  }

  init(stamp: UInt64, updatedAt: Int64, fields: FieldMap) {
    self.stamp = stamp
    self.updatedAt = updatedAt
    self.fields = fields
  }
}
